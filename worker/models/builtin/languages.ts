// What a file is, by its name alone: a language for source, else a kind. Data, and one lookup.

export type FileKind =
  | 'code'
  | 'documents'
  | 'data and configuration'
  | 'images'
  | 'audio and video'
  | 'archives'
  | 'fonts'
  | 'programs and libraries'
  | 'logs'
  | 'other';

export interface FileType {
  readonly kind: FileKind;
  /** Set for source code only. */
  readonly language: string | null;
}

const CODE: Readonly<Record<string, string>> = {
  TypeScript: 'ts tsx mts cts',
  JavaScript: 'js jsx mjs cjs',
  Python: 'py pyi pyw',
  Go: 'go',
  Rust: 'rs',
  C: 'c h',
  'C++': 'cc cpp cxx hh hpp hxx ipp',
  'C#': 'cs csx',
  Java: 'java',
  Kotlin: 'kt kts',
  Scala: 'scala sc',
  Groovy: 'groovy gradle',
  Swift: 'swift',
  'Objective-C': 'mm',
  Ruby: 'rb rake gemspec',
  PHP: 'php phtml',
  Perl: 'pl pm',
  Lua: 'lua',
  R: 'r rmd',
  Julia: 'jl',
  Haskell: 'hs lhs',
  OCaml: 'ml mli',
  'F#': 'fs fsi fsx',
  Elixir: 'ex exs',
  Erlang: 'erl hrl',
  Clojure: 'clj cljs cljc edn',
  Dart: 'dart',
  Zig: 'zig',
  Nim: 'nim',
  D: 'd',
  Fortran: 'f f90 f95 f03',
  Assembly: 's asm',
  Shell: 'sh bash zsh fish ksh',
  PowerShell: 'ps1 psm1',
  Batch: 'bat cmd',
  SQL: 'sql',
  HTML: 'html htm xhtml',
  CSS: 'css',
  Sass: 'scss sass',
  Less: 'less',
  Vue: 'vue',
  Svelte: 'svelte',
  'Protocol Buffers': 'proto',
  GraphQL: 'graphql gql',
  Terraform: 'tf tfvars',
  Nix: 'nix',
  CMake: 'cmake',
  Solidity: 'sol',
  Vim: 'vim',
  'Emacs Lisp': 'el',
  Lisp: 'lisp lsp scm rkt',
  TeX: 'tex sty cls',
  WebAssembly: 'wat',
  Notebook: 'ipynb',
};

const KINDS: Readonly<Record<Exclude<FileKind, 'code' | 'other'>, string>> = {
  documents: 'md markdown mdx txt rst adoc asciidoc org pdf doc docx odt rtf ppt pptx odp epub tr man',
  'data and configuration':
    'json jsonc json5 jsonl ndjson yaml yml toml ini cfg conf env properties xml xsd csv tsv xls xlsx ods parquet avro arrow db sqlite sqlite3 plist lock sum mod editorconfig po pot bib geojson dat',
  images: 'png jpg jpeg gif webp avif svg ico bmp tif tiff heic psd xcf eps ai drawio',
  'audio and video':
    'mp3 wav flac ogg oga opus m4a aac mid midi mp4 m4v mkv webm mov avi wmv mpg mpeg srt vtt',
  archives: 'zip tar gz tgz bz2 tbz xz txz zst 7z rar jar war whl deb rpm apk dmg iso cab',
  fonts: 'ttf otf woff woff2 eot',
  'programs and libraries': 'exe dll so dylib a o obj lib bin wasm node class pyc pyo pdb elf img',
  logs: 'log out err trace',
};

/** Whole names, in lower case, that say more than their ending. */
const NAMES: Readonly<Record<string, FileType>> = {
  makefile: { kind: 'code', language: 'Make' },
  gnumakefile: { kind: 'code', language: 'Make' },
  justfile: { kind: 'code', language: 'Make' },
  dockerfile: { kind: 'code', language: 'Docker' },
  containerfile: { kind: 'code', language: 'Docker' },
  jenkinsfile: { kind: 'code', language: 'Groovy' },
  rakefile: { kind: 'code', language: 'Ruby' },
  gemfile: { kind: 'code', language: 'Ruby' },
  'cmakelists.txt': { kind: 'code', language: 'CMake' },
  'requirements.txt': { kind: 'data and configuration', language: null },
  license: { kind: 'documents', language: null },
  licence: { kind: 'documents', language: null },
  copying: { kind: 'documents', language: null },
  notice: { kind: 'documents', language: null },
  authors: { kind: 'documents', language: null },
  readme: { kind: 'documents', language: null },
  changelog: { kind: 'documents', language: null },
};

const OTHER: FileType = { kind: 'other', language: null };
const HIDDEN: FileType = { kind: 'data and configuration', language: null };

let byEnding: ReadonlyMap<string, FileType> | null = null;

/** `path` may have folders in front. */
export function fileTypeOf(path: string): FileType {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  if (known !== undefined) return known;
  byEnding ??= endings();
  const dot = name.lastIndexOf('.');
  if (dot === 0) return byEnding.get(name.slice(1)) ?? HIDDEN;
  return dot < 0 ? OTHER : (byEnding.get(name.slice(dot + 1)) ?? OTHER);
}

function endings(): ReadonlyMap<string, FileType> {
  const map = new Map<string, FileType>();
  for (const [kind, list] of Object.entries(KINDS))
    for (const ending of list.split(' ')) map.set(ending, { kind: kind as FileKind, language: null });
  for (const [language, list] of Object.entries(CODE))
    for (const ending of list.split(' ')) map.set(ending, { kind: 'code', language });
  return map;
}
