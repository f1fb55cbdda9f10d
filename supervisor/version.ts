import manifest from '../package.json' with { type: 'json' };

/** Version of the installed package. */
export const VERSION: string = manifest.version;
