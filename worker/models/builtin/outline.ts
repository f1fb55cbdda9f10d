// Finds, with patterns that fit most languages, what a source file says of itself and which names it defines.

/** The words of the comment at the top, without its marks; null when there is none. Licence headers do not count. */
export function leadComment(text: string): string | null {
  const body = text
    .replace(/^\uFEFF/, '')
    .replace(/^#!.*\n/, '')
    .replace(/^\s*(?:<\?php|['"]use strict['"];?)\s*/, '')
    .trimStart();
  const words = blockComment(body) ?? lineComment(body);
  if (words === null) return null;
  const clean = words.replace(/\s+/g, ' ').trim();
  if (clean === '' || /^(?:copyright|\(c\)|©|spdx|licensed under|eslint|@ts-|-\*-)/i.test(clean)) return null;
  return clean;
}

function blockComment(body: string): string | null {
  const match = /^(?:\/\*+!?|"""|'''|<!--|\(\*|\{-)([\s\S]*?)(?:\*\/|"""|'''|-->|\*\)|-\})/.exec(body);
  return match === null ? null : (match[1] ?? '').replace(/^[ \t]*\*+ ?/gm, '');
}

function lineComment(body: string): string | null {
  const lines: string[] = [];
  for (const line of body.split('\n')) {
    const match = /^\s*(?:\/\/[/!]?|#+(?!!|include|define|if)|--|;+|%+)\s?(.*)$/.exec(line);
    if (match === null) break;
    lines.push(match[1] ?? '');
  }
  return lines.length === 0 ? null : lines.join(' ');
}

const DEFINITIONS: readonly RegExp[] = [
  // JavaScript and TypeScript
  /^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|type|enum|const|let|var|namespace)\s+([\p{L}_$][\p{L}\p{N}_$]*)/u,
  /^(?:async\s+)?function\*?\s+([\p{L}_$][\p{L}\p{N}_$]*)/u,
  // Python, Ruby, Elixir
  /^(?:async\s+)?(?:def|class|module|defmodule|defp?)\s+([\p{L}_][\p{L}\p{N}_.?!]*)/u,
  // Rust, Go, Swift, Kotlin, Scala, Zig
  /^(?:pub(?:\([^)]*\))?\s+|public\s+|private\s+|internal\s+|open\s+|data\s+|sealed\s+|final\s+|export\s+)*(?:unsafe\s+|async\s+|const\s+|extern\s+"[^"]*"\s+)*(?:fn|func|fun|struct|enum|trait|type|class|interface|protocol|object|union|mod)\s+(?:\([^)]*\)\s*)?([\p{L}_][\p{L}\p{N}_]*)/u,
  // Java, C#
  /^\s{0,4}(?:public|protected|private|internal)\s+(?:static\s+|final\s+|abstract\s+|sealed\s+|partial\s+|async\s+)*(?:class|interface|enum|record|struct)\s+([\p{L}_][\p{L}\p{N}_]*)/u,
  // C and C++
  /^(?:[A-Za-z_][\w:<>,*&]*\s+){1,4}\**([A-Za-z_]\w*)\s*\([^;]{0,200}$/u,
  // Shell
  /^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?/u,
  // SQL
  /^create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|index|trigger)\s+(?:if\s+not\s+exists\s+)?([\w."`]+)/iu,
];

const NO_NAME = /^(?:if|for|while|switch|return|else|catch|sizeof|case)$/;
/** Longer lines are generated; patterns are not tried on them. */
const LONGEST_LINE = 500;

/** Names defined at the outer level, in order, each once. */
export function namesDefined(text: string): string[] {
  const names = new Set<string>();
  for (const line of text.split('\n')) {
    if (line.length > LONGEST_LINE || line === '') continue;
    for (const pattern of DEFINITIONS) {
      const name = pattern.exec(line)?.[1];
      if (name === undefined) continue;
      if (!NO_NAME.test(name) && !/^(?:else|return|new|throw)\b/.test(line)) names.add(name);
      break;
    }
  }
  return [...names];
}
