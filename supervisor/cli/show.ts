// `turnd show THREAD`: the turns of a thread, what was said in them and how they stand.
import type { JournalEvent } from '../../shared/journal.js';
import { readSummary } from '../../shared/transcript/summary.js';
import { EXIT } from '../exit-codes.js';
import type { Reader } from '../store/reader.js';
import type { SummaryRow, TurnRow } from '../store/rows.js';
import { writeAll } from './io.js';
import {
  complain,
  isLeft,
  type ReaderArgs,
  type ReaderIo,
  standing,
  time,
  withReader,
} from './stored-turns.js';
import { indented, terminalText } from './terminal-text.js';

export interface ShowArgs extends ReaderArgs {
  readonly thread: string;
}

export function runShow(io: ReaderIo, args: ShowArgs): Promise<number> {
  return withReader(io, args, async (reader) => {
    const thread = reader.threads.get(args.thread);
    if (thread === undefined) {
      const names = reader.threads.list().map((row) => row.thread_id);
      const there = names.length === 0 ? 'there are none yet' : `there are: ${names.join(', ')}`;
      return complain(io, `no thread ${args.thread} in ${reader.dir}; ${there}`);
    }
    const turns = reader.turns.ofThread(thread.thread_id);
    if (args.json === true) {
      for (const turn of turns) await writeAll(io.stdout, `${JSON.stringify(turnObject(reader, turn))}\n`);
      return EXIT.ok;
    }
    const root = reader.workspaces.get(thread.workspace_id)?.root ?? 'unknown';
    await writeAll(
      io.stdout,
      terminalText(`thread ${thread.thread_id}, workspace ${root}, ${counted(turns.length, 'turn')}\n`),
    );
    const folded = reader.summaries.get(thread.thread_id);
    if (folded !== undefined) await writeAll(io.stdout, terminalText(foldedLine(folded)));
    for (const turn of turns) await writeAll(io.stdout, turnText(reader, turn));
    return EXIT.ok;
  });
}

/** What a model is shown of the older part. The turns below are whole: nothing is ever removed. */
function foldedLine({ revision, summary, updated_at_ms }: SummaryRow): string {
  const { through_turn: through, degraded } = readSummary(summary);
  const how = degraded ? 'excerpted' : 'summarised';
  return `  models see it ${how} up to ${through} (${counted(revision, 'time')}, last ${time(updated_at_ms)})\n`;
}

function turnObject(reader: Reader, turn: TurnRow): object {
  return {
    ...turn,
    left: isLeft(reader, turn),
    usage: reader.usage.ofTurn(turn.turn_id),
    message: reader.inbox.ofTurn(turn.turn_id)?.text ?? null,
  };
}

function turnText(reader: Reader, turn: TurnRow): string {
  const { input_tokens, output_tokens } = reader.usage.ofTurn(turn.turn_id);
  const facts = [
    time(turn.created_at_ms),
    ...(turn.model === '' ? [] : [turn.model]),
    // Counted when a turn is settled; before that they would only be wrong.
    ...(turn.state === 'ended' ? [counted(turn.rounds, 'round'), counted(turn.tool_calls, 'call')] : []),
    `${input_tokens} tokens in, ${output_tokens} out`,
  ];
  const head = `\n${turn.turn_id}  ${standing(reader, turn)}\n  ${facts.join(' · ')}\n`;
  const lines = reader.events.ofTurn(turn.turn_id).flatMap(({ event }) => transcriptLine(event));
  return `${terminalText(head)}${lines.map((line) => `  ${indented(line, '    ')}\n`).join('')}`;
}

/** The part of an event that is conversation; calls as one line each, their results in full are in `turnd items`. */
function transcriptLine(event: JournalEvent): string[] {
  switch (event.kind) {
    case 'user_message':
      return [`${event.principal}: ${event.text.trimEnd()}`];
    case 'assistant_message':
      return event.text === '' ? [] : [`assistant: ${event.text}`];
    case 'tool_intent':
      return [`→ ${event.tool} ${oneLine(JSON.stringify(event.arguments))}`];
    case 'tool_result':
      return [`← ${event.tool} ${event.is_error ? `${event.end}, error` : event.end}`];
    case 'note':
      return [`note: ${event.text}`];
    case 'window_opened':
      return [`went on in window ${event.window}`];
    case 'usage':
    case 'turn_ended':
      return [];
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function oneLine(text: string): string {
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
