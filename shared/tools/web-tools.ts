import type { ToolSpec } from './tool-spec.js';

export const WEB_TOOLS: readonly ToolSpec[] = [];
