// One quick look for an OpenAI-compatible server on this machine: is somebody there, and which model does it offer?
import type { Clock } from '../../shared/clock.js';

export const LOCAL_SERVER = 'http://127.0.0.1:11434';
/** A server on the same machine answers at once or is not there. */
const PROBE_MS = 300;
const ANSWER_BYTES_MAX = 1024 * 1024;

/** The first model that the server lists, or null when there is no such server. Never rejects. */
export async function probeLocalServer(clock: Clock, base: string = LOCAL_SERVER): Promise<string | null> {
  // Loaded here: a start with a configured model does without it.
  const { request } = await import('node:http');
  return new Promise((resolve) => {
    const call = request(`${base}/v1/models`, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX) call.destroy();
        else chunks.push(chunk);
      });
      answer.on('end', () => {
        finish(answer.statusCode === 200 ? firstModel(Buffer.concat(chunks).toString('utf8')) : null);
      });
      answer.on('error', () => finish(null));
    });
    const cancel = clock.after(PROBE_MS, () => call.destroy());
    const finish = (model: string | null): void => {
      cancel();
      resolve(model);
    };
    call.on('error', () => finish(null));
    call.on('close', () => finish(null));
    call.end();
  });
}

function firstModel(body: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== 'object' || parsed === null || !('data' in parsed) || !Array.isArray(parsed.data))
      return null;
    const [first] = parsed.data as unknown[];
    if (typeof first !== 'object' || first === null || !('id' in first)) return null;
    return typeof first.id === 'string' && first.id !== '' ? first.id : null;
  } catch {
    return null;
  }
}
