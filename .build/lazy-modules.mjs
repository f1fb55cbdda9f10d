// Loads some of the host's modules at the first use instead of with a bundle: they are the most expensive ones that the
// bundles name, and most turns never use them. Only functions; a name that is missing here fails the build.
const CRYPTO = ['createHash', 'createHmac', 'randomBytes', 'randomUUID', 'timingSafeEqual'];

const crypto = CRYPTO.map(
  (name) => `export const ${name} = (...given) => require('crypto').${name}(...given);`,
);

/** An assertion that holds must cost nothing; one that fails has time to load how it is told. */
const assert = `
export const strict = (value, message) => { if (!value) require('assert').strict(value, message); };
strict.equal = (actual, expected, message) => {
  if (!Object.is(actual, expected)) require('assert').strict.equal(actual, expected, message);
};
export default strict;
`;

const CONTENTS = { 'node:crypto': crypto.join('\n'), 'node:assert': assert };

export const lazyModules = {
  name: 'lazy-modules',
  setup(build) {
    build.onResolve({ filter: /^node:(crypto|assert)$/ }, ({ path }) => ({ path, namespace: 'lazy' }));
    build.onLoad({ filter: /./, namespace: 'lazy' }, ({ path }) => ({ contents: CONTENTS[path] }));
  },
};
