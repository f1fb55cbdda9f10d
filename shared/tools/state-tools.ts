import type { ToolSpec } from './tool-spec.js';

export const STATE_TOOLS: readonly ToolSpec[] = [];
