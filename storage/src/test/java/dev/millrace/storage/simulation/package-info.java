/**
 * A disk in memory that does what disks do at worst, driven by a seed.
 *
 * <p>Entry: {@link dev.millrace.storage.simulation.SimulatedDisk}. For tests of everything that keeps something on a disk: each asserts
 * that the faults it is about really happened ({@link dev.millrace.storage.simulation.SimulatedDisk#happened}).
 */
package dev.millrace.storage.simulation;
