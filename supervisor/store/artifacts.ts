// Large or binary content as files below artifacts/, named by their id, with a row each. The file is durable before the
// row can be; a row that was rolled back leaves a file that nothing names, never the other way round.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { wellFormed } from '../../shared/transcript/unicode.js';
import type { Db } from './database.js';
import type { ArtifactRow } from './rows.js';
import { type StatePaths, syncToDisk } from './state-dir.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

const COLUMNS = 'artifact_id, thread_id, turn_id, name, mime, bytes, sha256, created_at_ms';
const CHUNK_BYTES = 1024 * 1024;

export function artifactsTable(db: Db, paths: StatePaths): Store['artifacts'] {
  const byId = reading<ArtifactRow>(db, `SELECT ${COLUMNS} FROM artifacts WHERE artifact_id = ?`);
  const ofThread = reading<ArtifactRow>(
    db,
    `SELECT ${COLUMNS} FROM artifacts WHERE thread_id = ? AND substr(name, 1, length(?)) = ? ORDER BY seq LIMIT ?`,
  );
  const insert = writing(db, `INSERT INTO artifacts (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const pathOf = (artifactId: string): string => {
    assert(/^[A-Za-z0-9_-]+$/.test(artifactId), 'an artifact id must be a plain name');
    return join(paths.artifacts, artifactId);
  };

  const adopt: Store['artifacts']['adopt'] = (file, draft) => {
    assert(db.inTransaction, 'a write outside of transact');
    const row: ArtifactRow = {
      ...draft,
      name: wellFormed(draft.name),
      ...takeIn(file, pathOf(draft.artifact_id)),
    };
    syncToDisk(paths.artifacts);
    insert(
      row.artifact_id,
      row.thread_id,
      row.turn_id,
      row.name,
      row.mime,
      row.bytes,
      row.sha256,
      row.created_at_ms,
    );
    return row;
  };

  return {
    adopt,
    create: (content, draft) => {
      const file = `${pathOf(draft.artifact_id)}.new`;
      writeFileSync(file, content, { mode: 0o600 });
      return adopt(file, draft);
    },
    get: (artifactId) => byId.get(artifactId),
    read: (artifactId, offset, length) => readPart(pathOf(artifactId), offset, length),
    list: (threadId, prefix, limit) => ofThread.all(threadId, prefix, prefix, limit),
  };
}

/** Moves the file into place. Only a plain file is taken: a link would make us keep, and later read, what it points at. */
function takeIn(file: string, target: string): Pick<ArtifactRow, 'bytes' | 'sha256'> {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    assert(fstatSync(descriptor).isFile(), 'an artifact must be a plain file');
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let bytes = 0;
    for (let got = readSync(descriptor, chunk); got > 0; got = readSync(descriptor, chunk)) {
      hash.update(chunk.subarray(0, got));
      bytes += got;
    }
    fsyncSync(descriptor);
    moveFile(file, target);
    // What was moved is named again: it must still be what was read.
    const moved = lstatSync(target);
    assert(moved.isFile() && moved.size === bytes, 'the file changed while it was taken in');
    chmodSync(target, 0o600);
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    closeSync(descriptor);
  }
}

function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    copyFileSync(from, to);
    syncToDisk(to);
    rmSync(from);
  }
}

function readPart(path: string, offset: number, length: number): Uint8Array {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const room = Math.max(0, Math.min(length, fstatSync(descriptor).size - offset));
    const part = Buffer.alloc(room);
    return part.subarray(0, room === 0 ? 0 : readSync(descriptor, part, 0, room, offset));
  } finally {
    closeSync(descriptor);
  }
}
