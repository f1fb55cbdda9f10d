/** Version of the private wire. Both sides say it first; they part when it differs (an upgrade on disk under a running supervisor). */
export const IPC_VERSION = 1;
