/**
 * Segments as bytes: this page is the format, version 2.
 *
 * <p>Entry: {@link dev.millrace.sketch.segment.SegmentCodec}, {@link dev.millrace.sketch.segment.Versions}; {@link
 * dev.millrace.sketch.segment.SketchReceiver} for what comes over a link that loses, repeats and reorders; {@link
 * dev.millrace.sketch.segment.VersionCodec} for versions as messages of their own. Reading is safe on any thread but for
 * {@code SketchReceiver}; whatever the bytes say, it ends with a sketch or a {@code MillraceException}, and asks for no more memory than
 * {@code form.Limits} allows.
 *
 * <p>Bits fill bytes from the least significant on. <i>n bits</i> is an unsigned number. <i>golomb(k)</i> is the exponential
 * Golomb code of order k: with h = value &gt;&gt; k, as many zero bits as h + 1 has bits after its first one, a one, those bits
 * of h + 1, then the k low bits of the value. <i>sized</i> is 7 bits with the value's bit length, then the value without its
 * leading one. <i>zigzag</i> makes signed numbers unsigned (0, -1, 1, -2 become 0, 1, 2, 3). A <i>double</i> is its 64 bits. A
 * <i>name</i> is golomb(3) of its bytes in UTF-8, and those. <i>align</i> skips to the next byte.
 *
 * <pre>
 * segment
 *   4 bits     format, 2; a reader refuses what is higher
 *   1 bit      the version is announced completely
 *   1 bit      the version is announced as a change of the one before; with the bit before it there is nothing behind the
 *              version: an announcement alone
 *   1 bit      the columns are stored jointly
 *   1 bit      0
 *   32 bits    CRC-32C of the first byte, of all behind this field, and of the 8 bytes of the incarnation, the lowest first,
 *              which stand nowhere else but in a complete announcement
 *   16 bits    the incarnation's lowest
 *   golomb(6)  sequence number within the incarnation
 *   golomb(6)  number of the version
 *   version or change, as announced
 *   1 bit      it has as many rows as the version says; else golomb(10) rows
 *   times
 *   columns, or joint columns
 *
 * version
 *   64 bits    incarnation, drawn at random by each encoder; 0 when nothing else refers to the version
 *   golomb(0)  number of the schema
 *   name of the time, sized ticks per second, sized time bound in ticks, golomb(2) features less one; per feature:
 *     name; 5 bits type (DataType.Kind in its order), golomb(0) its length
 *     2 bits   bound: 0 exact, 1 absolute, 2 share of the range; double amount unless exact
 *     2 bits   binning (schema.Binning in its order)
 *     bins
 *   clockwork; golomb(10) usual rows of a segment
 * clockwork    sized zigzag origin of times, sized their usual period, golomb(6) sequence number of the segment at the origin
 * bins
 *   1 bit      exact; else 1 bit: the bound is the amount above, else a double
 *   1 bit      the usual step for that bound (doubles: 2 bound (1 - 2^-24); whole numbers: 2 floor(bound) + 1, of at most
 *              2^52); else a double
 *   golomb(0)  equally likely bins; a double with each one's middle
 * change       per feature
 *   1 bit      changed; then 1 bit: golomb(0) injected bins, their middles; else bins
 *   1 bit      times changed: clockwork
 *
 * times
 *   2 bits     0 regular with the version's period, 1 regular with its own, 2 steps, 3 a chain
 *   1 bit      unless this is a chain or the schema has no bound on time: times are off within the bound; else they are exact
 *   1 bit      the start is the origin + period * usual rows * segments since that at the origin (modulo 2^64). Else
 *   1 bit      the start is a multiple of the version's period away from its origin: golomb(12) zigzag of that
 *              multiple; else sized zigzag of the distance in ticks
 *   1          sized zigzag period p; 1 bit: 20 bits fraction f and 20 bits phase q follow
 *              row i is at start + i p + (i f + q &gt;&gt; 20)
 *   2          sized unit, a number column (never the last) of the rows less one: steps in units, as whole numbers
 *   3          sized period p, 20 bits fraction f, a number column of the rows: misses. Row i is at the row before + p + the
 *              whole ticks that f has added up to since the last miss + its own miss
 *
 * number column
 *   NULLs      1 bit: there are some. Then golomb(2) runs less one, 5 bits a, 5 bits b, and per run golomb(a) rows since the last
 *              one's end, golomb(b) its length less one. What follows is of the other rows; nothing if there are none
 *   1 bit      with a dictionary
 *   3 bits     scale: 0 the version's step, 1 half of it (whole numbers: rounded down, at least 1), 2 decimal numbers (5 bits digits: bin / 10^digits), 3 the version's
 *              equally likely bins, 4 own (64 bits step, a double for doubles; double error), 5 values (double error)
 *              a bin is worth bin times step
 *   dictionary golomb(3) bins, golomb(0) exact values; golomb(8) zigzag of the lowest bin; with two bins or more 1 bit: they
 *              follow without gaps, else 5 bits k and golomb(k) of each gap less one; then the exact values as doubles.
 *              Ranks count the bins, then the exact values. A sequence of ranks follows
 *   none       2 bits: 0 frame, 1 static code, 2 values, 3 adaptive code
 *              2: per value 1 bit: differs from the one before (as bits; the first from 0). If so 1 bit: a new window, 6 bits
 *              leading zeros and 6 bits length less one; then that many bits of the exclusive or, from the window
 *              else 1 bit: exceptions; golomb(3) of them, 5 bits k, each golomb(k) values since the last one, and a double
 *              0: sized zigzag base, 7 bits width, then each bin less the base in that width
 *              1: golomb(12) bits of it unless the column is the last; the static code of the bins
 *              3: align, the adaptive code of the bins
 *
 * text column  align; NULLs; then golomb(2) texts less one, golomb(3) bytes of each; 1 bit: deflated, golomb(8) bytes of that;
 *              align, the texts one behind the other. A sequence of ranks follows
 *
 * sequence     nothing with a single symbol. 3 bits: 0 runs, 1 packed, 2 static, 3 histogram, 4 adaptive. w is the bits of the
 *              highest rank
 *   runs       golomb(3) runs less one; 5 bits k; with more than two symbols 1 bit packed and 5 bits s; w bits first rank. Per
 *              further run: golomb(k) length of the run before less one; with more than two symbols w bits rank if packed,
 *              else 1 bit downward and golomb(s) distance from the rank before less one; with two the other one
 *   others     5 bits k, and of each symbol but the last golomb(k) how often it occurs, less one; with k = 31 the first is
 *              golomb(1), and each other golomb of the bits of the one before it less two (at least 0)
 *   packed     w bits per row
 *   static, histogram   golomb(9) bits of it unless the column is the last; entropy.StaticCode or entropy.HistogramCode
 *   adaptive   align; entropy.AdaptiveCode
 *
 * joint columns, per feature: align; 1 bit NULL occurs (as the highest rank); 1 bit there are symbols: number columns a
 *              scale and a dictionary, text columns their texts. Then
 *   golomb(4)  combinations less one; 1 bit inverted index; per combination and feature its rank, in the bits of the highest
 *   a sequence of combinations, or for the index per combination 1 bit Roaring: golomb(6) bytes, align, the bitmap as
 *              RoaringBitmap serialises it; else one bit per row
 * </pre>
 *
 * <p>Beyond what the rows need a segment has 56 bits, its own and its version's number: 9 bytes for the first 64 segments and
 * versions, of which some two come back where segments are full and regular, as their start need not be told.
 *
 * <p>A number of a version means something within its incarnation only. As the incarnation takes part in the checksum, a segment
 * is never read with the version of another one: by its 16 bits the reader sees that it does not know the version, and if they
 * are the same by chance, the checksum does not match.
 *
 * <p>Format 1 had no incarnation, sequence number, number of the schema, exactness of times, nor the bit for an expected start; the
 * checksum was over the bytes alone, and whole numbers' bounds were made use of up to 2^60. It is read: whoever has segments of several
 * encoders in it gives each a {@code Versions} of its own.
 */
package dev.millrace.sketch.segment;
