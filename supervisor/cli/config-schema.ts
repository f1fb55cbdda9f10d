// `turnd config schema`: the JSON Schema of the configuration file, as generated.
import { EXIT } from '../exit-codes.js';
import { type Io, writeAll } from './io.js';

export async function runConfigSchema(io: Pick<Io, 'stdout'>): Promise<number> {
  const schema = await import('../../schemas/config.json', { with: { type: 'json' } });
  await writeAll(io.stdout, `${JSON.stringify(schema.default, null, 2)}\n`);
  return EXIT.ok;
}
