// The public types of the protocol: everything that the tables of methods and notifications lead to and that has a name.
import type * as v from 'valibot';
import {
  errorData,
  errorResponse,
  notificationEnvelope,
  request,
  response,
} from '../shared/protocol/envelope.js';
import { METHODS } from '../shared/protocol/methods.js';
import { NOTIFICATIONS } from '../shared/protocol/notifications.js';

type Definition = v.GenericSchema & {
  readonly pipe?: readonly { readonly kind: string; readonly type: string; readonly title?: string }[];
  readonly entries?: Readonly<Record<string, Definition>>;
  readonly item?: Definition;
  readonly options?: readonly unknown[];
  readonly wrapped?: Definition;
};

/** Name → definition, in order of names. Two definitions of one name are a mistake. */
export function protocolTypes(): Map<string, v.GenericSchema> {
  const found = new Map<string, v.GenericSchema>();
  const visit = (definition: Definition): void => {
    const name = titleOf(definition);
    if (name !== null) {
      const known = found.get(name);
      if (known === definition) return;
      if (known !== undefined) throw new Error(`two types are called ${name}`);
      found.set(name, definition);
    }
    for (const inner of innerOf(definition)) visit(inner);
  };
  for (const root of [
    request,
    response,
    notificationEnvelope,
    errorData,
    errorResponse,
    ...Object.values(NOTIFICATIONS),
  ])
    visit(root as Definition);
  for (const { params, result } of Object.values(METHODS)) {
    visit(params as Definition);
    visit(result as Definition);
  }
  return new Map([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
}

export function titleOf({ pipe }: Definition): string | null {
  return pipe?.find(({ kind, type }) => kind === 'metadata' && type === 'title')?.title ?? null;
}

function innerOf({ entries, item, options, wrapped }: Definition): Definition[] {
  const alternatives = (options ?? []).filter(
    (option): option is Definition => typeof option === 'object' && option !== null && 'type' in option,
  );
  return [
    ...Object.values(entries ?? {}),
    ...(item === undefined ? [] : [item]),
    ...(wrapped === undefined ? [] : [wrapped]),
    ...alternatives,
  ];
}

/** `TurnStartParams` → `turn_start_params.json` */
export function schemaFile(name: string): string {
  const snake = name.replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3_$2$4').toLowerCase();
  return `${snake}.json`;
}
