// The few lines of shell that stand between the worker and a command: first process of the namespace, or leader of
// the group. Descriptor 3 is a line to the worker, and the command never gets it. The first argument is the id of the
// command, the rest is the command.
//
//   init → worker   ready PID      contained; nothing has run yet. PID 1 proves the namespace
//   worker → init   go             start. End of file instead: the worker is gone, leave
//   init → worker   exit STATUS    the command itself ended; what it left behind still runs
//   worker → init   (end of file)  leave, which ends what is left
//
// The command runs in a subshell of its own that turns into it: so the redirection is the subshell's, and the init's own
// remarks ("Terminated") do not end up in the output.

/** Set for commands that no namespace holds, to that id: tells what belongs to this command and to no other. */
export const COMMAND_MARKER = 'TURND_COMMAND';

/** For a wrapper that dies with the worker: nothing to watch. */
export const INIT_TIED = `shift
echo "ready $$" >&3; read -r _ <&3 || exit 0
( exec "$@" 2>&1 3>&- )
echo "exit $?" >&3; read -r _ <&3`;

/** Where nothing ties the wrapper to the worker: a watcher ends the namespace once the worker is gone. */
export const INIT_WATCHED = `shift
echo "ready $$" >&3; read -r _ <&3 || exit 0
{ read -r _ <&3; kill -KILL -1; } </dev/null >/dev/null & watcher=$!
( exec "$@" 2>&1 3>&- )
status=$?
kill -KILL $watcher; wait $watcher
echo "exit $status" >&3; read -r _ <&3`;

/**
 * Without a namespace: the watcher ends whatever carries the marker, then the group, init and itself included. The init
 * must not end the watcher, which may be in the middle of that: the end of the command may be its doing.
 */
export const INIT_GROUP = `id=$1; shift
echo "ready $$" >&3; read -r _ <&3 || exit 0
{ read -r _ <&3
  for round in 1 2 3; do for entry in /proc/[0-9]*; do
    if grep -q -s -F "${COMMAND_MARKER}=$id" "$entry/environ"; then kill -KILL "\${entry#/proc/}"; fi
  done; done
  kill -KILL 0
} </dev/null >/dev/null & watcher=$!
( export ${COMMAND_MARKER}="$id"; exec "$@" 2>&1 3>&- )
echo "exit $?" >&3; wait $watcher`;
