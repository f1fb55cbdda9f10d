// The part of the configuration that says what is looked up for a message, and what is found out about it, before its turn.
import { endpoint, secret } from './credentials.js';
import { amount, choice, count, duration, group, optional, path, size } from './leaf.js';

const SECOND = 1000;
const KB = 1024;

export const preflight = choice(
  'A look at a message before its turn, by the model of the preflight role: when it seems worth it, always, or never. Never with the built-in model.',
  ['auto', 'always', 'never'],
);

const SURE = { min: 0, max: 1 };
export const confidence = group('How sure a model must be of a decision, from 0 to 1.', {
  preflight: amount(
    'Of a route, and of what kind of message it is. Below it the message is worked on as usual.',
    SURE,
  ),
  decide: amount('Of an answer of the tool `decide`. Below it the answer is marked as unsure.', SURE),
});

export const knowledge = group('Reference texts, looked up for each message.', {
  auto_context: group('What is added to a turn by itself.', {
    on: choice('When a search is made for a message.', ['never', 'turn']),
    top: count('Most texts.', { min: 1, max: 50 }),
    // The key says its unit already.
    bytes: { ...size('Most text in all.', { min: KB, max: 1024 * KB }), unit: '' },
  }),
  search: group('Where texts are searched: a folder, or a server of yours.', {
    path: optional(path('Folder of text files, searched by words.', { file: false })),
    url: optional(endpoint('Search server: gets {query, top} by POST, answers {hits: [{source, text}]}.')),
    token: optional(secret('Credential of the search server, as a secret reference.')),
    time: duration('Time of a search. What is not found by then is not added.', {
      min: 50,
      max: 60 * SECOND,
    }),
  }),
});
