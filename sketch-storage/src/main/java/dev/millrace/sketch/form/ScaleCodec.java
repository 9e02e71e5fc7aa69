package dev.millrace.sketch.form;

import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bins.GridBins;
import dev.millrace.sketch.bins.Scale;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.schema.Feature;

/** Which scale a column's bins are on: mostly the version's own, in three bits. */
final class ScaleCodec {
    private static final int TAG_BITS = 3;
    private static final int OF_VERSION = 0;
    private static final int OF_VERSION_OVERLAPPING = 1;
    private static final int DECIMAL = 2;
    private static final int TABLE = 3;
    private static final int OWN = 4;
    private static final int VALUES = 5;
    private static final int DIGIT_BITS = 5;

    /** A scale and how far values may be off its bins' middles. */
    record Scaled(Scale scale, double error) {}

    private ScaleCodec() {}

    static int bits(Scale scale, BinSet bins, double error) {
        return TAG_BITS
                + switch (tag(scale, bins, error)) {
                    case DECIMAL -> DIGIT_BITS;
                    case OWN -> 128;
                    case VALUES -> 64;
                    default -> 0;
                };
    }

    private static int tag(Scale scale, BinSet bins, double error) {
        if (scale instanceof Scale.Decimal) {
            return DECIMAL;
        }
        if (scale instanceof Scale.Values) {
            return VALUES;
        }
        if (scale instanceof Scale.Table table && table.centres().equals(bins.centres())) {
            return TABLE;
        }
        if (scale instanceof Scale.Grid grid && error == bins.bound()) {
            return grid.step() == bins.step()
                    ? OF_VERSION
                    : grid.step() == bins.step() / GridBins.OVERLAP ? OF_VERSION_OVERLAPPING : OWN;
        }
        if (scale instanceof Scale.Whole whole && error == wholeError(bins)) {
            return whole.step() == (long) bins.step()
                    ? OF_VERSION
                    : whole.step() == overlapping((long) bins.step()) ? OF_VERSION_OVERLAPPING : OWN;
        }
        return OWN;
    }

    private static double wholeError(BinSet bins) {
        return (long) bins.step() / 2;
    }

    private static long overlapping(long step) {
        return Math.max(1, step / GridBins.OVERLAP);
    }

    static void write(BitWriter out, Scale scale, BinSet bins, double error) {
        int tag = tag(scale, bins, error);
        out.write(tag, TAG_BITS);
        if (scale instanceof Scale.Decimal decimal) {
            out.write(decimal.digits(), DIGIT_BITS);
        } else if (tag == VALUES) {
            out.write(Double.doubleToRawLongBits(error), 64);
        } else if (tag == OWN) {
            long step = scale instanceof Scale.Whole whole
                    ? whole.step()
                    : Double.doubleToRawLongBits(((Scale.Grid) scale).step());
            out.write(step, 64);
            out.write(Double.doubleToRawLongBits(error), 64);
        }
    }

    static Scaled read(BitReader in, BinSet bins, Feature.Kind kind) {
        int tag = in.readInt(TAG_BITS);
        boolean whole = kind != Feature.Kind.NUMBER;
        switch (tag) {
            case OF_VERSION, OF_VERSION_OVERLAPPING -> {
                if (whole) {
                    long step = (long) bins.step();
                    return new Scaled(new Scale.Whole(tag == OF_VERSION ? step : overlapping(step)), wholeError(bins));
                }
                Damage.check(bins.step() > 0, "its version has no bins for a feature in bins");
                return new Scaled(
                        new Scale.Grid(tag == OF_VERSION ? bins.step() : bins.step() / GridBins.OVERLAP), bins.bound());
            }
            case DECIMAL -> {
                int digits = in.readInt(DIGIT_BITS);
                Damage.check(!whole && digits <= Scale.Decimal.MOST_DIGITS, "an impossible number of digits");
                return new Scaled(new Scale.Decimal(digits), 0);
            }
            case TABLE -> {
                Damage.check(!whole && !bins.centres().isEmpty(), "its version has no bins for a feature in bins");
                return new Scaled(new Scale.Table(bins.centres()), bins.bound());
            }
            case VALUES -> {
                double error = Double.longBitsToDouble(in.read(64));
                Damage.check(!whole && error >= 0 && error < Double.POSITIVE_INFINITY, "an impossible error bound");
                return new Scaled(new Scale.Values(new double[0]), error);
            }
            case OWN -> {
                long step = in.read(64);
                double error = Double.longBitsToDouble(in.read(64));
                Damage.check(error >= 0 && error < Double.POSITIVE_INFINITY, "an impossible error bound");
                if (whole) {
                    Damage.check(step > 0, "an impossible width of bins");
                    return new Scaled(new Scale.Whole(step), error);
                }
                double width = Double.longBitsToDouble(step);
                Damage.check(width > 0 && width < Double.POSITIVE_INFINITY, "an impossible width of bins");
                return new Scaled(new Scale.Grid(width), error);
            }
            default -> throw Damage.damaged("an unknown kind of bins: " + tag);
        }
    }
}
