// What holds when nothing is configured, each value with its reason. Written as in a file, and read like one, so no
// default can break the rules that a configured value must keep.

export const DEFAULTS = {
  agent: {
    name: 'turnd',
    // No instruction is better than an invented one: the prompt template stands by itself.
    instruction: '',
    // A turn mostly waits for its model, so a small machine carries more turns than it has cores.
    max_parallel_turns: 4,
    // Two spares hide the start of a process behind the turn before; each costs about 12 MB.
    warm_workers: 2,
  },
  intelligence: {
    // Absent: discovered at start, the built-in offline model last.
    endpoints: null,
    model: null,
    dialect: null,
    token: null,
    headers: {},
    // Providers know the limit of each model; a number of ours would be too low for one and refused by another.
    max_output_tokens: 0,
    ca_file: null,
  },
  context: {
    template: null,
    // Room for careful instructions; more would crowd out the conversation on small windows.
    instructions_max: '32KB',
  },
  limits: {
    run: {
      // Long work takes a few hundred rounds; what needs more is usually lost.
      steps: 500,
      // Bounds the bill of a turn that runs away overnight.
      tokens: 2_000_000,
      // Jobs in scripts and CI must end; an hour covers long builds.
      deadline: '1h',
      // Three equal calls can be a check before, after, and once more; the fourth brings nothing new.
      loop_repeats: 4,
    },
    // A worker needs milliseconds to leave; two seconds allow for a loaded machine.
    cancel_grace: '2s',
    kill_grace: '2s',
    // Longer than any pause that a healthy worker makes without saying why.
    progress: '120s',
    // An event loop that is blocked for ten seconds will not come back by itself.
    pong: '10s',
    // About 16 000 tokens: enough to see head and tail, too little to fill a window.
    tool_output: '64KB',
    // Reads of one answer are small; more at once only fight for the disk.
    parallel_calls: 8,
    // Source files are far smaller; what is larger should be searched or read by range.
    file: '10MB',
    exec: {
      timeout: '2m',
      timeout_max: '1h',
      // Installs and test runs mostly end within it; what goes on can be polled.
      yield: '30s',
      // A full log of a large build; an endless one is cut here.
      spill: '64MB',
    },
    fetch: {
      bytes: '5MB',
      time: '30s',
    },
    model: {
      connect: '10s',
      // Reasoning models think for a long time before their first byte.
      first_byte: '120s',
      // Providers send a sign of life every 15 to 30 seconds; twice that is silence.
      idle: '60s',
      call: '10m',
      // With back-off this rides out about a minute of overload.
      retries: 4,
      // Longer waits are for a person to decide.
      retry_after: '60s',
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
  },
  observability: {
    // A job in a script says nothing when all is well.
    log_level: 'warn',
  },
} as const;
