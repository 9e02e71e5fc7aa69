/**
 * Bits in and out, as the segment format lays them: least significant bit first.
 *
 * <p>Entry: {@link dev.millrace.sketch.bits.BitWriter}, {@link dev.millrace.sketch.bits.BitReader}. One thread each. A
 * reader never runs past its end: whatever the bytes say, it answers or throws {@link
 * dev.millrace.sketch.bits.Damage}. It knows nothing of segments.
 */
package dev.millrace.sketch.bits;
