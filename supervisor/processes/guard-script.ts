// The few lines of shell that outlive a killed supervisor, just long enough to end its workers.
//
//   supervisor → guard   + PGID MARKER CGROUP   a worker lives; CGROUP is - where there is none
//   supervisor → guard   - PGID                 it is gone, with all it started
//   end of file                                 the supervisor is gone: end what is on the list
//
// The group and the control group go first, at one stroke each; then whatever still carries the marker, a few times over
// because something may fork while the list is read. What was killed takes a moment to leave its control group.
import { MARKER_NAME } from './sweep.js';

export const GUARD_SCRIPT = `trap '' HUP INT TERM
list=
while read -r op pgid marker group; do
  rest=
  for entry in $list; do [ "\${entry%%,*}" = "$pgid" ] || rest="$rest $entry"; done
  list=$rest
  [ "$op" = + ] && list="$list $pgid,$marker,$group"
done
for entry in $list; do
  pgid=\${entry%%,*}; group=\${entry##*,}
  kill -KILL "-$pgid"
  [ "$group" = - ] || echo 1 >"$group/cgroup.kill"
done
for round in 1 2 3; do
  for entry in $list; do
    marker=\${entry#*,}; marker=\${marker%,*}
    for process in $(grep -l -s -F -- "${MARKER_NAME}=$marker" /proc/[0-9]*/environ); do
      process=\${process#/proc/}; kill -KILL "\${process%/environ}"
    done
  done
done
for round in 1 2 3; do
  for entry in $list; do group=\${entry##*,}; [ ! -d "$group" ] || rmdir "$group" || sleep 1; done
done`;
