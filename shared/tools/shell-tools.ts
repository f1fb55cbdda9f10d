import type { ToolSpec } from './tool-spec.js';

export const SHELL_TOOLS: readonly ToolSpec[] = [];
