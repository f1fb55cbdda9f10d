// The handlers of all methods, typed by the table: one that is missing does not compile.
import { operatorHandlers } from './operator.js';
import type { HandlerParts, Handlers } from './ports.js';
import { questionHandlers } from './question.js';
import { threadHandlers } from './thread.js';
import { turnHandlers } from './turn.js';
import { workspaceHandlers } from './workspace.js';

export function allHandlers(parts: HandlerParts): Handlers {
  return {
    ...workspaceHandlers(parts),
    ...threadHandlers(parts),
    ...turnHandlers(parts),
    ...questionHandlers(parts),
    ...operatorHandlers(parts),
  };
}
