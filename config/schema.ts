// Every key of the configuration, with its meaning and its range. The type, the loader, the environment names, the
// JSON Schema and `turnd config show` all come from this one tree. Defaults stand in defaults.ts.
import { isIP } from 'node:net';
import * as v from 'valibot';
import { budget, modelName, PRICE } from './budget-schema.js';
import { compactAt, keepLast, maxCompactions, modelWindow, summarize } from './context-schema.js';
import {
  laneAge,
  lifecycle,
  messageDepth,
  minFree,
  parkAfter,
  queue,
  startPrompt,
  wakeOn,
} from './daemon-schema.js';
import { gateway } from './gateway-schema.js';
import { confidence, knowledge, preflight } from './knowledge-schema.js';
import {
  choice,
  count,
  duration,
  type Group,
  group,
  type Leaf,
  list,
  optional,
  path,
  size,
  text,
} from './leaf.js';
import {
  auth,
  caFile,
  dialect,
  models,
  providers,
  roles,
  routes,
  structuredOutput,
  token,
  usualEndpoints,
  usualHeaders,
} from './models-schema.js';
import { table } from './records.js';
import { subagents } from './subagent-schema.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KB = 1024;
const MB = 1024 * KB;
const GB = 1024 * MB;

function isHostOrRange(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/');
  if (rest.length > 0) return false;
  const family = isIP(address);
  if (prefix !== undefined) {
    return family !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
  }
  if (family !== 0) return true;
  // A name that is all digits and dots is a mistyped address, not a host.
  return !/^[\d.]+$/.test(address) && /^(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.?$/.test(address);
}

const hostOrRange = v.pipe(
  v.string('expected a host name, an address or a range such as 10.0.0.0/8'),
  v.check(isHostOrRange, 'expected a host name, an address or a range such as 10.0.0.0/8'),
);

const agent = group('Who the agent is, and how many turns it works on at once.', {
  name: text('Name of this agent, in prompts and logs.', {
    max: 63,
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    expected: 'expected a name: letters, digits, . _ -',
  }),
  instruction: text('What the agent is for. Stands in the system prompt of every turn.', { max: 256 * KB }),
  prompt: startPrompt,
  wake_on: wakeOn,
  max_parallel_turns: count('Turns that run at once; more wait.', { min: 1, max: 256 }),
  warm_workers: count('Spare worker processes kept ready. 0 starts one when a turn needs it.', {
    min: 0,
    max: 64,
  }),
  lane_age: laneAge,
  park_after: parkAfter,
  preflight,
});

const intelligence = group('The model. Without endpoints turnd looks for one.', {
  endpoints: usualEndpoints,
  model: optional(modelName('Name of the model, as its server knows it, or one of intelligence.models.')),
  dialect,
  token,
  auth,
  headers: usualHeaders,
  structured_output: structuredOutput,
  max_output_tokens: count('Cap of one answer. 0 leaves it to the server.', { min: 0, max: 1_000_000 }),
  ca_file: caFile,
  providers,
  models,
  roles,
  routes,
  confidence,
  budget,
  prices: table(
    'Prices by model name: {input, output, cached, written}, in US dollars for a million tokens.',
    /^\S{1,200}$/,
    PRICE,
  ),
});

const context = group('What the model is shown beside the conversation.', {
  template: optional(
    path(
      'File with a system prompt template of your own. `turnd --context-template` prints the built-in one.',
      { file: true },
    ),
  ),
  instructions_max: size('Cap of the text taken from AGENTS.md files. 0 reads none.', { min: 0, max: MB }),
  compact_at: compactAt,
  keep_last: keepLast,
  max_compactions: maxCompactions,
  model_window: modelWindow,
  summarize,
});

const run = group('Bounds of one turn.', {
  steps: count('Model calls of a turn.', { min: 1, max: 100_000 }),
  tokens: count('Input and output tokens of a turn together.', { min: 1, max: 10_000_000_000 }),
  deadline: duration('Time of a turn, from its start to its end.', { min: 100, max: 30 * DAY }),
  loop_repeats: count('The same call with the same arguments this often ends the turn.', {
    min: 2,
    max: 10_000,
  }),
});

const exec = group('Commands that a turn runs.', {
  timeout: duration('Time of a command whose call names none.', { min: 100, max: 7 * DAY }),
  timeout_max: duration('Longest time that a call may ask for.', { min: 100, max: 7 * DAY }),
  yield: duration('A command that runs longer becomes a session, which the model can poll.', {
    min: 10,
    max: HOUR,
  }),
  spill: size('Output of one command that is kept on disk.', { min: KB, max: 64 * GB }),
});

const fetch = group('Pages that a turn fetches.', {
  // The key says its unit already.
  bytes: { ...size('Largest body, after decompression.', { min: KB, max: GB }), unit: '' },
  time: duration('Time of a fetch, redirects included.', { min: 100, max: HOUR }),
});

const model = group('Patience with the model server.', {
  connect: duration('Time to connect.', { min: 10, max: 10 * MINUTE }),
  first_byte: duration('Silence before the first byte of an answer.', { min: 10, max: HOUR }),
  idle: duration('Silence within an answer.', { min: 10, max: HOUR }),
  call: duration('Time of one call in all.', { min: 10, max: DAY }),
  retries: count('Tries after the first, where another try can help.', { min: 0, max: 100 }),
  retry_after: duration('Longest wait that a server may ask for. A longer one fails the call.', {
    min: 0,
    max: DAY,
  }),
});

const limits = group('What a turn may use, and how long anything may be silent.', {
  run,
  queue,
  max_message_depth: messageDepth,
  subagents,
  cancel_grace: duration('From the request to end until SIGTERM.', { min: 0, max: 10 * MINUTE }),
  kill_grace: duration('From SIGTERM until SIGKILL.', { min: 0, max: 10 * MINUTE }),
  progress: duration('A worker without progress for this long, and without a reason, is stuck.', {
    min: 100,
    max: DAY,
  }),
  pong: duration('A worker that answers no ping for this long is stuck.', { min: 100, max: HOUR }),
  tool_output: size('Part of one tool result that the model sees. The whole stays as an artifact.', {
    min: KB,
    max: 4 * MB,
  }),
  parallel_calls: count('Read-only calls of one answer that run side by side.', { min: 1, max: 64 }),
  file: size('Largest single file that a tool reads or writes.', { min: KB, max: GB }),
  exec,
  fetch,
  model,
});

const security = group('What turns may do.', {
  default_mode: choice('Permission mode of a turn that names none.', [
    'full_access',
    'auto_accept_edits',
    'supervised',
  ]),
  web: group('Web tools.', {
    allow_private: list('Private hosts, addresses or ranges that web tools may reach.', hostOrRange),
  }),
});

const store = group('Where state is kept.', {
  path: optional(path('State directory. Without it: below the state home.', { file: false })),
  on_damage: choice('What to do with a damaged database: stop, or go on with what could be saved.', [
    'stop',
    'salvage',
  ]),
  min_free: minFree,
});

const observability = group('What is told about the work.', {
  log_level: choice('Least serious message that is logged.', ['silent', 'error', 'warn', 'info', 'debug']),
});

export const CONFIG = group('Configuration of turnd.', {
  agent,
  intelligence,
  context,
  knowledge,
  limits,
  security,
  store,
  lifecycle,
  gateway,
  observability,
});

type Entry = Leaf<unknown, string> | Group;
type KeyName<Key extends string, Value extends Entry> = Value extends {
  readonly unit: infer Unit extends string;
}
  ? `${Key}${Unit}`
  : Key;
type ValueOf<Value extends Entry> =
  Value extends Group<infer Keys>
    ? ConfigOf<Keys>
    : Value extends Leaf<infer Parsed, string>
      ? Parsed
      : never;
type ConfigOf<Keys extends Group['keys']> = {
  readonly [Key in keyof Keys & string as KeyName<Key, Keys[Key]>]: ValueOf<Keys[Key]>;
};

/** The whole configuration, frozen: keys as in the file, with `_ms` and `_bytes` on durations and sizes; null for what is absent. */
export type Config = ConfigOf<typeof CONFIG.keys>;

export interface LeafAt {
  /** Dotted key: `limits.run.deadline`. */
  readonly path: string;
  readonly leaf: Leaf<unknown, string>;
}

/** Every leaf below a group, in the order of the file. */
export function leavesOf(from: Group, prefix = ''): LeafAt[] {
  return Object.entries(from.keys).flatMap(([key, entry]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    return entry.is === 'leaf' ? [{ path, leaf: entry }] : leavesOf(entry, path);
  });
}

/** `limits.run.steps` → `TURND_LIMITS_RUN_STEPS` */
export function environmentName(path: string): string {
  return `TURND_${path.replaceAll('.', '_').toUpperCase()}`;
}
