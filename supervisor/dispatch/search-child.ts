// Has a spare worker look up reference texts for a message, off the loop that everything else waits for. Bounded in
// time; whatever goes wrong is a value.
import type { Clock } from '../../shared/clock.js';
import type { SearchOrder } from '../../shared/ipc/search.js';
import type { Searched, SearchTexts } from '../context/knowledge.js';
import type { WarmPool } from '../processes/types.js';

/** How much longer than the search itself its worker gets to start and to tell. */
const SLACK_MS = 5_000;

interface SearchParts {
  readonly pool: WarmPool;
  readonly clock: Clock;
}

export function searchChild({ pool, clock }: SearchParts): SearchTexts {
  return (order: SearchOrder, signal: AbortSignal): Promise<Searched> =>
    new Promise((resolve) => {
      const worker = pool.take();
      const settle = (searched: Searched): void => {
        cancel();
        signal.removeEventListener('abort', onAbort);
        // It has nothing to finish: nobody waits for what it might still do.
        worker.end('operator', { now: !searched.ok });
        resolve(searched);
      };
      const fail = (message: string): void => settle({ ok: false, message });
      const onAbort = (): void => fail('it was cancelled');
      const cancel = clock.after(order.time_ms + SLACK_MS, () => fail('it took too long'));
      signal.addEventListener('abort', onAbort, { once: true });
      worker.onFrame((frame) => {
        if (frame.type === 'found') settle({ ok: true, hits: frame.hits });
        else if (frame.type === 'failed') fail(frame.message);
      });
      void worker.ended.then((exit) =>
        fail(exit.fault?.message ?? 'the worker process ended without an answer'),
      );
      worker.send({ type: 'search', order });
    });
}
