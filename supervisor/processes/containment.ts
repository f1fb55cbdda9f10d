// Which layers make sure, on this machine, that what a turn starts ends with it. Strongest first, by the names that the
// security snapshot shows. Found out by looking at files only, on first use.
import { cgroupBase } from './cgroup.js';
import { deathSignalTool } from './spawn-worker.js';

let layers: readonly string[] | undefined;

export function containmentLayers(): string[] {
  layers ??= [
    ...(cgroupBase() === null ? [] : ['cgroup']),
    'process_group',
    ...(deathSignalTool(process.env['PATH']) === null ? [] : ['parent_death_signal']),
    'environment_marker',
  ];
  return [...layers];
}
