// `--output stream-json`: one line per event, each a notification of the client protocol.
import type { Clock } from '../../shared/clock.js';
import type { PermissionMode } from '../../shared/policy/permission-mode.js';
import { notificationText } from '../../shared/protocol/envelope.js';
import { permissionProfile } from '../../shared/protocol/permission.js';
import { notificationOf, type TurnAddress } from '../../shared/protocol/step-notification.js';
import { TurnStory } from '../../shared/protocol/turn-story.js';
import type { LiveEvent } from '../tools/running-turn.js';

/** Turns live events into lines. */
export function notificationLines(
  address: TurnAddress,
  mode: PermissionMode,
  clock: Clock,
  write: (line: string) => void,
): (event: LiveEvent) => void {
  const profile = permissionProfile(mode, 'defaulted');
  const story = new TurnStory({ id: address.turn_id, origin: 'user', profile });
  return (event) => {
    for (const step of story.told(event, clock.now())) {
      const { method, params } = notificationOf(address, step);
      write(notificationText(method, params));
    }
  };
}
