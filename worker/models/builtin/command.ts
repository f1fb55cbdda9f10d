// What a request to the built-in model can mean, after parsing. One kind, one plan file.

/** Lines from 1, both ends included; null is the open end. `last` counts from the end of the file. */
export type LineRange =
  | { readonly kind: 'between'; readonly from: number; readonly to: number | null }
  | { readonly kind: 'last'; readonly count: number };

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'list'; readonly path: string; readonly deep: boolean }
  | { readonly kind: 'read'; readonly paths: readonly string[]; readonly range: LineRange | null }
  | {
      readonly kind: 'search';
      readonly text: string;
      /** The text is a regular expression; else it is meant word for word. */
      readonly regex: boolean;
      readonly ignoreCase: boolean;
      readonly path: string;
    }
  | { readonly kind: 'find'; readonly glob: string; readonly path: string }
  | { readonly kind: 'run'; readonly command: string; readonly folder: string | null }
  /** `content` null: what the step before gave. */
  | { readonly kind: 'write'; readonly path: string; readonly content: string | null }
  | { readonly kind: 'fetch'; readonly url: string }
  | { readonly kind: 'summarise'; readonly path: string; readonly expect: 'folder' | 'file' | null }
  | { readonly kind: 'unknown'; readonly text: string };

export type CommandKind = Command['kind'];
