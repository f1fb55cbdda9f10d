// Every built-in tool, in the order in which models see them.
import { FILE_TOOLS } from './file-tools.js';
import { SHELL_TOOLS } from './shell-tools.js';
import { STATE_TOOLS } from './state-tools.js';
import { THOUGHT_TOOLS } from './thought-tools.js';
import type { ToolSpec } from './tool-spec.js';
import { WEB_TOOLS } from './web-tools.js';

export const CATALOGUE: readonly ToolSpec[] = [
  ...FILE_TOOLS,
  ...SHELL_TOOLS,
  ...WEB_TOOLS,
  ...STATE_TOOLS,
  ...THOUGHT_TOOLS,
];

const byName = new Map(CATALOGUE.map((spec) => [spec.name, spec]));

export function toolSpec(name: string): ToolSpec | undefined {
  return byName.get(name);
}
