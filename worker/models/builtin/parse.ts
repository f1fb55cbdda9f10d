// A message to the built-in model, cut into steps and each step read by the first form that understands it.
import type { Command } from './command.js';
import { FORMS, LONG_FORMS } from './forms.js';
import { hideQuotes, type Quoted } from './quoting.js';

/** More steps in one message than anybody types by hand. */
const MOST_STEPS = 20;
/** Words of one step, quoted parts not counted. Longer ones are texts, and only the forms that take texts are tried. */
const LONG_STEP = 2_000;

const POLITE =
  /^(?:[-*•]\s+|\d+[.)]\s+|(?:please|kindly|hey|hi|hello|ok(?:ay)?|now|first(?:ly)?|next|finally|also|and|then|after that|turnd)\b[\s,:!]*|(?:can|could|would|will) you\b(?:\s+please)?\s*|(?:i(?:'d| would) like you to|i want you to|i need you to|let'?s|let us)\s+|just\s+)+/i;
const POLITE_END = /[\s,](?:please|for me|thanks|thank you|now)[.!?]*$/i;

/** Where one step may end and the next begin; a strong one may also follow words that could go on. Blanks are bounded, so that a long run of them costs no more than other text. */
const STRONG = /[,;.]?\s(?:and\s{1,4})?then\s{0,4},?\s|\n\s{0,8}(?:[-*]\s|\d{1,3}[.)]\s)?/;
const WEAK = /;\s|,?\sand\s{1,4}(?:also\s|finally\s)?|\.\s/;
const BREAK = new RegExp(`(?<strong>${STRONG.source})|(?:${WEAK.source})`, 'g');
const VERB =
  /^(?:summari[sz]e|sum up|describe|explain|outline|tell me|give me|what|list|ls|dir|tree|show|print|display|read|cat|open|view|head|tail|find|glob|look|locate|search|grep|rg|where|run|execute|exec|\$|write|save|put|store|create|make|fetch|get|download|curl|visit|help)(?=\s|[:?.!]|$)/i;
/** Their last words are taken as they are, so only a strong break ends them. */
const OPEN_ENDED: ReadonlySet<Command['kind']> = new Set(['run', 'write', 'search']);

export function parseRequest(text: string): Command[] {
  const quoted = hideQuotes(text.trim());
  const commands: Command[] = [];
  let rest = quoted.masked;
  while (commands.length < MOST_STEPS - 1) {
    const head = nextHead(quoted, rest);
    if (head === null) break;
    commands.push(head.command);
    rest = rest.slice(head.end);
  }
  commands.push(parseStep(quoted, rest));
  return commands;
}

/** After such a head everything is the text to write, line breaks included. */
const TEXT_FOLLOWS = /^(?:write|save|put)\s+(?:to|into|in)\s+[^\n]*:[^\S\n]*\n/i;

/** The first break that leaves a step we understand before it and a verb of ours behind it. */
function nextHead(quoted: Quoted, words: string): { command: Command; end: number } | null {
  if (TEXT_FOLLOWS.test(words.replace(POLITE, ''))) return null;
  for (const match of words.slice(0, LONG_STEP).matchAll(BREAK)) {
    const end = match.index + match[0].length;
    if (
      match.index === 0 ||
      !VERB.test(
        words
          .slice(end, end + 200)
          .trimStart()
          .replace(POLITE, ''),
      )
    )
      continue;
    const command = parseStep(quoted, words.slice(0, match.index));
    if (command.kind === 'unknown') continue;
    if (match.groups?.strong === undefined && OPEN_ENDED.has(command.kind)) continue;
    return { command, end };
  }
  return null;
}

function parseStep(quoted: Quoted, words: string): Command {
  const polite = words.trim().replace(POLITE, '').trim();
  const bare = polite.replace(POLITE_END, '').trimEnd();
  for (const form of polite.length > LONG_STEP ? LONG_FORMS : FORMS) {
    const command = form(quoted, bare);
    // A command line and a text are taken to their last word.
    if (command !== null) return OPEN_ENDED.has(command.kind) ? (form(quoted, polite) ?? command) : command;
  }
  return { kind: 'unknown', text: quoted.raw(words).trim() };
}
