// The plan of a whole message: its steps one after the other, each told under its own heading, signed once.
import type { Command } from './command.js';
import { fetchPlan } from './fetch-plan.js';
import { introduction, SIGNATURE } from './introduction.js';
import { findPlan, listPlan } from './list-plan.js';
import type { Plan, Told } from './plan.js';
import { readPlan } from './read-plan.js';
import { runPlan } from './run-plan.js';
import { searchPlan } from './search-plan.js';
import { summarisePlan } from './summarise-plan.js';
import { writePlan } from './write-plan.js';

export function* requestPlan(commands: readonly Command[]): Plan {
  const [only] = commands;
  if (commands.length < 2 && (only === undefined || only.kind === 'unknown' || only.kind === 'help'))
    return { text: introduction(only?.kind === 'unknown' ? only.text : null), result: null };
  const parts: string[] = [];
  let result: string | null = null;
  for (const [index, command] of commands.entries()) {
    const told: Told = yield* stepPlan(command, result);
    parts.push(commands.length === 1 ? told.text : `${index + 1}. ${told.text}`);
    // Writing something down does not change what "it" is.
    if (command.kind !== 'write') result = told.result;
  }
  return { text: `${parts.join('\n\n')}\n\n${SIGNATURE}`, result };
}

function* stepPlan(command: Command, before: string | null): Plan {
  switch (command.kind) {
    case 'help':
    case 'unknown':
      return { text: introduction(command.kind === 'unknown' ? command.text : null), result: null };
    case 'list':
      return yield* listPlan(command);
    case 'find':
      return yield* findPlan(command);
    case 'read':
      return yield* readPlan(command);
    case 'search':
      return yield* searchPlan(command);
    case 'run':
      return yield* runPlan(command);
    case 'write':
      return yield* writePlan(command, before);
    case 'fetch':
      return yield* fetchPlan(command);
    case 'summarise':
      return yield* summarisePlan(command);
  }
}
