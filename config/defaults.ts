// What holds when nothing is configured, each value with its reason. Already in the form that the code uses, because
// most starts configure little and a start is the price of every job; a test reads each back through the schema.
import type { Config } from './schema.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const KB = 1024;
const MB = 1024 * KB;

export const DEFAULTS: Config = {
  agent: {
    name: 'turnd',
    // No instruction is better than an invented one: the prompt template stands by itself.
    instruction: '',
    // A daemon waits to be spoken to.
    prompt: null,
    // A message is meant to be acted on; who would rather read it with the next turn says so.
    wake_on: ['message'],
    // A turn mostly waits for its model, so a small machine carries more turns than it has cores.
    max_parallel_turns: 4,
    // Two spares hide the start of a process behind the turn before; each costs about 12 MB.
    warm_workers: 2,
    // Longer than most turns take, short enough that work in the background is done the same minute.
    lane_age_ms: 30 * SECOND,
    // Most answers that come at all while somebody looks come within a minute; a worker for the rest only takes room.
    park_after_ms: 60 * SECOND,
    // What is short and calls for no work is answered faster without a look at it.
    preflight: 'auto',
  },
  intelligence: {
    // Absent: discovered at start, the built-in offline model last.
    endpoints: null,
    model: null,
    dialect: null,
    token: null,
    auth: { kind: null, region: null, access_key_id: null, secret_access_key: null, session_token: null },
    headers: {},
    // A model held to the schema by its provider needs no second asking; the others are asked in words.
    structured_output: 'auto',
    // Providers know the limit of each model; a number of ours would be too low for one and refused by another.
    max_output_tokens: 0,
    ca_file: null,
    // One connection and one model do for most.
    providers: {},
    models: {},
    // Every job goes to the model of the turn until somebody wants to save on it.
    roles: { turn: null, preflight: null, compaction: null, think: null, decide: null },
    // A model is chosen by a person unless that person says when another may be.
    routes: {},
    confidence: {
      // Surer than not; below it the usual way is the safer one.
      preflight: 0.6,
      decide: 0.6,
    },
    budget: {
      // What is affordable is the operator's to say; a turn is bounded by limits.run all the same.
      windows: [],
      lifetime: { tokens: null, cost: null },
      // One purse for everybody is what a bill knows.
      scope: ['instance'],
      // Nothing is lost by waiting, and a window ends by itself.
      on_exhausted: 'wait',
      // Half the rate leaves the other half to whatever shares the account.
      slow_factor: 0.5,
      degrade_model: null,
      // A window of a day may need a day; who cannot wait says so.
      max_wait_ms: null,
    },
    // Prices change without a word; a wrong figure is worse than none.
    prices: {},
  },
  context: {
    template: null,
    // Room for careful instructions; more would crowd out the conversation on small windows.
    instructions_max_bytes: 32 * KB,
    // Late enough that most conversations are never folded, early enough for a turn that reads much.
    compact_at: 0.7,
    // The last exchanges with their calls; what is older is referred to, not continued.
    keep_last: 12,
    // Three windows of new text are more than the tokens of a turn pay for; more is a turn that goes round in circles.
    max_compactions: 3,
    // Names of models say it well enough, and a refusal corrects the guess.
    model_window: null,
    summarize: {
      // The built-in guidance knows what an agent needs to go on.
      prompt: null,
    },
  },
  knowledge: {
    auto_context: {
      // There is nothing to search before somebody says where.
      on: 'never',
      // More than a handful of texts is noise beside the message.
      top: 5,
      // About 4 000 tokens, a small part of any window.
      bytes: 16 * KB,
    },
    // A person waits for it; a search that takes longer is not worth its result.
    search: { path: null, url: null, token: null, time_ms: 5 * SECOND },
  },
  limits: {
    run: {
      // Long work takes a few hundred rounds; what needs more is usually lost.
      steps: 500,
      // Bounds the bill of a turn that runs away overnight.
      tokens: 2_000_000,
      // Jobs in scripts and CI must end; an hour covers long builds.
      deadline_ms: HOUR,
      // Three equal calls can be a check before, after, and once more; the fourth brings nothing new.
      loop_repeats: 4,
    },
    queue: {
      // Days of work for one person; more is a loop that sends.
      per_principal: 2_000,
      // A message takes some hundred bytes of memory while it waits; the sum stays small.
      total: 10_000,
    },
    // Two agents that answer each other stop after a few rounds; real chains are shorter.
    max_message_depth: 8,
    subagents: {
      // A task, its parts and their parts; below that nobody remembers what was asked.
      depth: 3,
      // More side by side than a model can follow is waste.
      breadth: 8,
      // Each costs a thread and, while it runs, a worker.
      total: 64,
      // A fan of eight at once is work; eight more in the next moment is a loop.
      rate: { starts: 8, per_ms: 2 * SECOND },
    },
    // A worker needs milliseconds to leave; two seconds allow for a loaded machine.
    cancel_grace_ms: 2 * SECOND,
    kill_grace_ms: 2 * SECOND,
    // Longer than any pause that a healthy worker makes without saying why.
    progress_ms: 2 * MINUTE,
    // An event loop that is blocked for ten seconds will not come back by itself.
    pong_ms: 10 * SECOND,
    // About 16 000 tokens: enough to see head and tail, too little to fill a window.
    tool_output_bytes: 64 * KB,
    // Reads of one answer are small; more at once only fight for the disk.
    parallel_calls: 8,
    // Source files are far smaller; what is larger should be searched or read by range.
    file_bytes: 10 * MB,
    exec: {
      timeout_ms: 2 * MINUTE,
      timeout_max_ms: HOUR,
      // Installs and test runs mostly end within it; what goes on can be polled.
      yield_ms: 30 * SECOND,
      // A full log of a large build; an endless one is cut here.
      spill_bytes: 64 * MB,
    },
    fetch: {
      bytes: 5 * MB,
      time_ms: 30 * SECOND,
    },
    model: {
      connect_ms: 10 * SECOND,
      // Reasoning models think for a long time before their first byte.
      first_byte_ms: 2 * MINUTE,
      // Providers send a sign of life every 15 to 30 seconds; twice that is silence.
      idle_ms: 60 * SECOND,
      call_ms: 10 * MINUTE,
      // With back-off this rides out about a minute of overload.
      retries: 4,
      // Longer waits are for a person to decide.
      retry_after_ms: 60 * SECOND,
    },
  },
  security: {
    // A job has nobody to ask; containment holds in every mode.
    default_mode: 'full_access',
    // A page must not reach the services of this machine or its network through us.
    web: { allow_private: [] },
  },
  store: {
    path: null,
    // Salvage drops what cannot be read, so a person says yes to it first.
    on_damage: 'stop',
    // Room for the database and its log to take what runs already.
    min_free_bytes: 256 * MB,
  },
  lifecycle: {
    // Below the half minute that service managers and container platforms give.
    drain_timeout_ms: 25 * SECOND,
  },
  gateway: {
    // This machine only: the token is the whole protection.
    listen: 'http://127.0.0.1:17878',
    allowed_origins: [],
    allowed_hosts: [],
    // Each costs about 50 KB; a person has a handful, a test bench some hundred.
    max_connections: 256,
    // A message that was sent is meant; who wants a busy thread to refuse says so.
    on_busy_thread: 'queue',
  },
  observability: {
    // A job in a script says nothing when all is well.
    log_level: 'warn',
  },
};
