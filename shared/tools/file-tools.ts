import type { ToolSpec } from './tool-spec.js';

export const FILE_TOOLS: readonly ToolSpec[] = [];
