// What a model may do about its own view of the conversation.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

export const compactParams = v.strictObject({});

export const CONTEXT_TOOLS: readonly ToolSpec[] = [
  {
    name: 'context.compact',
    description:
      'Has the older part of this conversation summarised before your next message, to make room. Requests, the plan ' +
      'and the list of what was done stay word for word; the newest messages too. It also happens by itself when the ' +
      'room runs out, so use it only when a long piece of work is finished and its details no longer matter.',
    params: compactParams,
    action: 'control',
    runs: 'supervisor',
    readOnly: false,
  },
];
