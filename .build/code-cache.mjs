// Makes a bundle start from compiled code. V8 can keep what it compiled of a script; without that, every start of a
// process parses the whole bundle and compiles what it runs again, which for a worker is a tenth of its life.
//
// For dist/NAME.cjs there are then three files: NAME.cjs, which only loads; NAME-HASH.js, the bundle; NAME-HASH.cache,
// what was compiled of it during one recorded run. The hash ties the two together: V8 itself compares lengths only.
// A cache of another version of Node is refused by V8 and costs nothing; the code is compiled as ever.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const WRAPPER = ['(function(exports,require,module,__filename,__dirname){', '\n})'];

const loader = (name, hash, shebang) => `${shebang}'use strict';
const vm=require('vm'),fs=require('fs'),body=__dirname+'/${name}-${hash}.js';
let cachedData;try{cachedData=fs.readFileSync(__dirname+'/${name}-${hash}.cache')}catch{}
new vm.Script(fs.readFileSync(body,'latin1'),{filename:body,cachedData}).runInThisContext()(exports,require,module,__filename,__dirname);
`;

/**
 * The same program in ASCII, which is read several times faster than UTF-8: what is left of other characters stands in
 * regular expressions and texts, where an escape means the same.
 */
function ascii(source) {
  return source.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Runs a bundle and keeps what was compiled by the time it exits. Arguments after the first two are the bundle's. V8
 * forgets code that ran once, long ago; not during a recording. The flag is put back because a cache holds only for the
 * flags it was made with.
 */
const recorder = `const vm=require('vm'),fs=require('fs'),v8=require('v8'),[node,,body,cache,...rest]=process.argv;
process.argv=[node,body,...rest];
v8.setFlagsFromString('--no-flush-bytecode');
const script=new vm.Script(fs.readFileSync(body,'latin1'),{filename:body});
process.on('exit',()=>{v8.setFlagsFromString('--flush-bytecode');fs.writeFileSync(cache+'.new',script.createCachedData());fs.renameSync(cache+'.new',cache)});
script.runInThisContext()(exports,require,module,body,require('path').dirname(body));
`;

/**
 * Splits dist/NAME.cjs as said above. `exercise(argv)` runs the command `argv` through what the bundle should be quick
 * at; when it fails there is no cache, and that is said.
 */
export async function splitWithCache(folder, name, exercise) {
  const file = join(folder, `${name}.cjs`);
  const source = readFileSync(file, 'utf8');
  const shebang = /^#!.*\n/.exec(source)?.[0] ?? '';
  const body = WRAPPER[0] + ascii(source.slice(shebang.length)) + WRAPPER[1];
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  const made = [`${name}-${hash}.js`, `${name}-${hash}.cache`];
  const put = (target, text) => {
    writeFileSync(`${target}.new`, text);
    renameSync(`${target}.new`, target);
  };
  put(join(folder, made[0]), body);
  const recorderFile = join(folder, `${name}-recorder.cjs`);
  writeFileSync(recorderFile, recorder);
  try {
    await exercise([process.execPath, recorderFile, ...made.map((part) => resolve(folder, part))]);
  } catch (error) {
    process.stderr.write(`build: no code cache for ${name}: ${error.message}\n`);
  } finally {
    rmSync(recorderFile);
  }
  put(file, loader(name, hash, shebang));
  for (const old of readdirSync(folder))
    if (new RegExp(`^${name}-[0-9a-f]{12}\\.(js|cache)$`).test(old) && !made.includes(old))
      rmSync(join(folder, old));
}
