// SIGINT, SIGTERM and SIGHUP end a job cleanly: the first one cancels, the second one kills at once.
export type EndSignal = 'SIGINT' | 'SIGTERM';

export interface SignalWatch {
  /** The signal that ended the job, if one did; a hang-up counts as SIGTERM. */
  first(): EndSignal | null;
  stop(): void;
}

export function watchSignals(onSignal: (second: boolean) => void): SignalWatch {
  let first: EndSignal | null = null;
  const handlers = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const handler = (): void => {
      const second = first !== null;
      first ??= signal === 'SIGINT' ? 'SIGINT' : 'SIGTERM';
      onSignal(second);
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  return {
    first: () => first,
    stop: () => {
      for (const { signal, handler } of handlers) process.removeListener(signal, handler);
    },
  };
}
