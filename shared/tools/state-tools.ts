// The tools whose state the supervisor owns, and `finish`, with which the model ends its turn.
import * as v from 'valibot';
import { ARTIFACT_TOOLS } from './artifact-tools.js';
import { CONTEXT_TOOLS } from './context-tools.js';
import { MEMORY_TOOLS } from './memory-tools.js';
import { MESSAGE_TOOLS } from './message-tools.js';
import { PLAN_TOOLS } from './plan-tools.js';
import { SUBAGENT_TOOLS } from './subagent-tools.js';
import type { ToolSpec } from './tool-spec.js';
import { WAITING_TOOLS } from './waiting-tools.js';

export const finishParams = v.strictObject({
  status: v.picklist(['completed', 'failed', 'refused', 'cancelled']),
  output: v.optional(
    v.pipe(
      v.unknown(),
      v.description('the answer, for when the text of this message is empty; text or JSON'),
    ),
  ),
  reason: v.optional(
    v.pipe(v.string(), v.maxLength(4000), v.description('why, when the status is not completed')),
  ),
  exit: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'true: the daemon that runs this turn ends too, once its other work is done. Rarely wanted.',
      ),
    ),
  ),
});

const FINISH: ToolSpec = {
  name: 'finish',
  description:
    'Ends the turn with a status: completed when the request is done; failed when it cannot be done; refused when ' +
    'it must not be done; cancelled when it is no longer wanted. Other calls of the same message still run. ' +
    'Not needed for an ordinary answer: a message without calls ends the turn too.',
  params: finishParams,
  action: 'control',
  runs: 'supervisor',
  readOnly: false,
};

export const STATE_TOOLS: readonly ToolSpec[] = [
  ...PLAN_TOOLS,
  ...MEMORY_TOOLS,
  ...ARTIFACT_TOOLS,
  ...CONTEXT_TOOLS,
  ...WAITING_TOOLS,
  ...MESSAGE_TOOLS,
  ...SUBAGENT_TOOLS,
  FINISH,
];
