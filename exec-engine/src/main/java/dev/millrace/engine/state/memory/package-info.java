/**
 * Blocks of raw memory for state, cut of an allocator's pages: {@link dev.millrace.engine.state.memory.StateMemory} by size
 * classes, {@link dev.millrace.engine.state.memory.BuddyMemory} by halves; {@link dev.millrace.engine.state.memory.RedZones}
 * between blocks where tests ask for them. Not thread-safe.
 */
package dev.millrace.engine.state.memory;
