// `context.compact` changes nothing at once: its worker asks for the fold before its next round, when the results of all
// calls beside it are in the journal.
import { compactParams } from '../../shared/tools/context-tools.js';
import { stateTool } from './state-tool.js';

export const contextCompact = stateTool(compactParams, () => ({
  content: { ok: true, note: 'the conversation is summarised before your next message, if that makes room' },
  is_error: false,
}));
