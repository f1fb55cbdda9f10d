// A process of its own that starts a worker with a turn, says the worker's pid once its tree has grown, and then waits
// to be killed. Its arguments: the scene, and the word that marks the tree.
import { isNote, sceneWorker } from './scene-worker.js';
import { turnFrame } from './turn-frame.js';

const [scene = '', word = ''] = process.argv.slice(1);
const { worker, seen } = sceneWorker(scene);
await worker.ready;
worker.send(turnFrame({ system_prompt: word }));
await seen(isNote('grown'));
process.stdout.write(`grown ${worker.pid}\n`);
