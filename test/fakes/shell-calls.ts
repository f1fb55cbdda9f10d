// Calls of the shell tools as tests make them, with results in a form that is easy to match.
import type { ExecCommandParams, WriteStdinParams } from '../../shared/tools/shell-tools.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import { execCommand } from '../../worker/tools/exec-command.js';
import { writeStdin } from '../../worker/tools/write-stdin.js';
import type { ShellContent, ShellContext } from './shell-context.js';

export interface Seen extends ShellContent {
  readonly isError: boolean;
  readonly spill: ToolResult['spill'];
  /** The notes as one text. */
  readonly said: string;
}

export function seen(result: ToolResult): Seen {
  const content = result.content as unknown as ShellContent;
  return {
    ...content,
    isError: result.is_error,
    spill: result.spill,
    said: (content.notes ?? []).join('\n'),
  };
}

export async function run(
  context: ShellContext,
  command: string,
  more: Partial<ExecCommandParams> = {},
): Promise<Seen> {
  return seen(await execCommand({ command, ...more }, context));
}

export async function write(context: ShellContext, params: WriteStdinParams): Promise<Seen> {
  return seen(await writeStdin(params, context));
}
