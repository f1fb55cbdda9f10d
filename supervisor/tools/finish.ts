// `finish` changes nothing here: that it was called, and with what, is in the journal, and the worker's loop acts on it.
import { finishParams } from '../../shared/tools/state-tools.js';
import { stateTool } from './state-tool.js';

export const finish = stateTool(finishParams, () => ({ content: { ok: true }, is_error: false }));
