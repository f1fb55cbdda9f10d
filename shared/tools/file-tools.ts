// The file tools, in the order in which models see them.
import { FILE_EDIT_TOOLS } from './file-edit-tools.js';
import { FILE_READ_TOOLS } from './file-read-tools.js';
import type { ToolSpec } from './tool-spec.js';

export const FILE_TOOLS: readonly ToolSpec[] = [...FILE_READ_TOOLS, ...FILE_EDIT_TOOLS];
