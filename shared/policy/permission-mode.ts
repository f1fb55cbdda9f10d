// Permission modes: what each kind of action may do without asking. Pure; judged in the supervisor for every call.
import type { ActionKind } from '../tools/tool-spec.js';

export const PERMISSION_MODES = ['full_access', 'auto_accept_edits', 'supervised'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export type Behaviour = 'allow' | 'ask';

const BEHAVIOUR: Readonly<Record<PermissionMode, Readonly<Record<ActionKind, Behaviour>>>> = {
  full_access: {
    read: 'allow',
    search: 'allow',
    edit: 'allow',
    command: 'allow',
    network: 'allow',
    state: 'allow',
    control: 'allow',
  },
  auto_accept_edits: {
    read: 'allow',
    search: 'allow',
    edit: 'allow',
    command: 'ask',
    network: 'ask',
    state: 'allow',
    control: 'allow',
  },
  supervised: {
    read: 'allow',
    search: 'allow',
    edit: 'ask',
    command: 'ask',
    network: 'ask',
    state: 'allow',
    control: 'allow',
  },
};

export function behaviourOf(mode: PermissionMode, action: ActionKind): Behaviour {
  return BEHAVIOUR[mode][action];
}
