// `turnd items TURN`: everything that a turn wrote to its journal, in order, with time and content.
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonValue } from '../../shared/json.js';
import { EXIT } from '../exit-codes.js';
import type { Reader } from '../store/reader.js';
import type { EventRow } from '../store/rows.js';
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

export interface ItemsArgs extends ReaderArgs {
  readonly turn: string;
}

export function runItems(io: ReaderIo, args: ItemsArgs): Promise<number> {
  return withReader(io, args, async (reader) => {
    const turn = reader.turns.get(args.turn);
    if (turn === undefined) return complain(io, `no turn ${args.turn} in ${reader.dir}; ${thereAre(reader)}`);
    const rows = reader.events.ofTurn(turn.turn_id);
    if (args.json === true) {
      for (const row of rows) await writeAll(io.stdout, `${JSON.stringify(itemObject(row))}\n`);
      const { turn_id, state, status } = turn;
      const last = { kind: 'turn_state', turn_id, state, status, left: isLeft(reader, turn) };
      await writeAll(io.stdout, `${JSON.stringify(last)}\n`);
      return EXIT.ok;
    }
    for (const row of rows) await writeAll(io.stdout, itemText(row));
    await writeAll(io.stdout, terminalText(`${turn.turn_id}  ${standing(reader, turn)}\n`));
    return EXIT.ok;
  });
}

function thereAre(reader: Reader): string {
  const turns = reader.threads.list().flatMap((thread) => reader.turns.ofThread(thread.thread_id));
  if (turns.length === 0) return 'there are none yet';
  const newest = turns.slice(-20).map((turn) => turn.turn_id);
  return `${turns.length > newest.length ? 'the newest are' : 'there are'}: ${newest.join(', ')}`;
}

function itemObject({ seq, at_ms, thread_id, turn_id, event }: EventRow): object {
  return { seq, at_ms, thread_id, turn_id, ...event };
}

function itemText({ at_ms, event }: EventRow): string {
  const [head, body] = contentOf(event);
  const line = `${time(at_ms)}  ${event.kind}${head === '' ? '' : `  ${head}`}`;
  return `${terminalText(line)}\n${body === '' ? '' : `    ${indented(body, '    ')}\n`}`;
}

/** What stands beside the kind, and what stands below it. */
function contentOf(event: JournalEvent): [head: string, body: string] {
  switch (event.kind) {
    case 'user_message':
      return [event.principal, event.text];
    case 'assistant_message': {
      const calls = event.calls.map((call) => `${call.name} (${call.call_id})`);
      const asks = calls.length === 0 ? '' : `, calls ${calls.join(', ')}`;
      return [`round ${event.round}, ${event.model}, stopped by ${event.stop}${asks}`, event.text];
    }
    case 'tool_intent':
      return [
        `${event.tool} (${event.call_id}) ${event.verdict}: ${event.reason}; runs in ${event.runs}`,
        readable(event.arguments),
      ];
    case 'tool_result': {
      const artifact = event.artifact_id === undefined ? '' : `, whole output in ${event.artifact_id}`;
      const error = event.is_error ? ', error' : '';
      return [
        `${event.tool} (${event.call_id}) ${event.end}${error}, ${event.duration_ms} ms${artifact}`,
        readable(event.content),
      ];
    }
    case 'usage': {
      const { input_tokens, output_tokens, cached_tokens, estimated } = event.usage;
      const how = estimated ? ', estimated' : '';
      const cost = event.cost_micros === undefined ? '' : `, $${event.cost_micros / 1_000_000}`;
      return [
        `${event.purpose === undefined ? '' : `${event.purpose}, `}${event.model}: ${input_tokens} in (${cached_tokens} cached), ${output_tokens} out${how}${cost}`,
        '',
      ];
    }
    case 'note':
      return ['', event.text];
    case 'window_opened':
      return [`window ${event.window}: ${event.reason}`, ''];
    case 'turn_ended': {
      const error = event.error === undefined ? '' : `: ${event.error.code}, ${event.error.message}`;
      return [`${event.status}${error}`, event.reply];
    }
  }
}

/** Text as it is; fields one below the other, so that long text in them keeps its lines. */
function readable(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(
      ([key, inner]) =>
        `${key}: ${typeof inner === 'string' ? indented(inner, '  ') : JSON.stringify(inner)}`,
    )
    .join('\n');
}
