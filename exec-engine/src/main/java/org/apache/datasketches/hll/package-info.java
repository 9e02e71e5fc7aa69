/** One class beside Apache DataSketches' own: {@link org.apache.datasketches.hll.HllRegisters}, the serial form of a sketch. */
package org.apache.datasketches.hll;
