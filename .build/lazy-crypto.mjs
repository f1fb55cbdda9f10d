// Loads the host's crypto module at the first use instead of with the bundle: it is the most expensive module that the
// bundles name, and a turn that calls no tool never uses it. Only functions; a name that is missing here fails the build.
const FUNCTIONS = ['createHash', 'createHmac', 'randomBytes', 'randomUUID', 'timingSafeEqual'];

export const lazyCrypto = {
  name: 'lazy-crypto',
  setup(build) {
    build.onResolve({ filter: /^node:crypto$/ }, () => ({ path: 'crypto', namespace: 'lazy' }));
    build.onLoad({ filter: /^crypto$/, namespace: 'lazy' }, () => ({
      contents: FUNCTIONS.map(
        (name) => `export const ${name} = (...given) => require('crypto').${name}(...given);`,
      ).join('\n'),
    }));
  },
};
