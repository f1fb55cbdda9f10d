// Frames that leave a worker together are recorded together, and nothing of them is lost to the end that follows.
import t from 'tap';
import { assistant, done, stage, worker } from '../fakes/dispatch-stage.js';

t.test('what arrives in one bundle with the end is recorded before it, and told before it', async (t) => {
  const s = stage(t);
  const id = s.accept('hello');
  const w = await worker(s);
  const usage = { input_tokens: 7, output_tokens: 2, cached_tokens: 0, estimated: false };
  w.say({ type: 'progress', progress: { event: 'round', round: 1 } });
  w.say({ type: 'progress', progress: { event: 'usage', call_index: 1, model: 'm', usage } });
  w.say(assistant([]));
  w.say(done());
  await s.scheduler.whenSettled(id);
  const kinds = ['user_message', 'usage', 'assistant_message', 'turn_ended'];
  t.same(s.kinds(id), kinds);
  t.match(s.store.usage.ofTurn(id), usage);
  const told = s.live.flatMap((event) => (event.type === 'journal' ? [event.event.kind] : []));
  t.same(told, kinds.slice(1));
});
