// Loaded into each test before anything else: child processes of a test are started just as they are asked for.
// The test runner would put loaders of its own into the environment of every child, whole trees down, to measure
// coverage, which we do not; what is tested then is no longer the command as people run it.
const wrapper = Symbol.for('process-on-spawn@*:singletonId');
const deaf = Object.assign([], { push: () => 0 });

if (globalThis[wrapper] === undefined)
  Object.defineProperty(globalThis, wrapper, {
    value: { version: 1, listeners: deaf, unwrap: () => undefined },
  });
else globalThis[wrapper].listeners.length = 0;
