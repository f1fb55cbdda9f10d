// The mark that a daemon leaves in its state directory: where it is reached, and where its token is.
import * as v from 'valibot';

export const daemonFile = v.object({
  /** `http://127.0.0.1:17878` */
  url: v.string(),
  pid: v.number(),
  /** Absolute path of the file that holds the operator's token. */
  token_file: v.string(),
});
export type DaemonFile = v.InferOutput<typeof daemonFile>;
