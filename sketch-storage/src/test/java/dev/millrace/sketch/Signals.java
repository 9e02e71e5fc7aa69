package dev.millrace.sketch;

import java.util.Random;

/** Kinds of number streams that a sketch may meet, friendly and not. */
enum Signals {
    CONSTANT {
        @Override
        double next(Random random, int i, double last) {
            return 21.5;
        }
    },
    WALK {
        @Override
        double next(Random random, int i, double last) {
            return last + random.nextGaussian();
        }
    },
    SINE {
        @Override
        double next(Random random, int i, double last) {
            return 100 * Math.sin(i / 50.0);
        }
    },
    NOISE {
        @Override
        double next(Random random, int i, double last) {
            return random.nextGaussian() * 10;
        }
    },
    UNIFORM_BITS {
        @Override
        double next(Random random, int i, double last) {
            return Double.longBitsToDouble(random.nextLong());
        }
    },
    STEPS {
        @Override
        double next(Random random, int i, double last) {
            return random.nextInt(60) == 0 ? random.nextInt(5) * 37.3 : last;
        }
    },
    TOGGLE {
        @Override
        double next(Random random, int i, double last) {
            return random.nextInt(4) == 0 ? 1 - Math.min(1, Math.abs(last)) : last;
        }
    },
    SPIKES {
        @Override
        double next(Random random, int i, double last) {
            return random.nextInt(200) == 0 ? 1e6 * random.nextDouble() : random.nextGaussian();
        }
    },
    DRIFT {
        @Override
        double next(Random random, int i, double last) {
            return i * 1e-2 + random.nextGaussian();
        }
    },
    HUGE {
        @Override
        double next(Random random, int i, double last) {
            return (random.nextDouble() - .5) * Double.MAX_VALUE * 1.9;
        }
    },
    TINY {
        @Override
        double next(Random random, int i, double last) {
            return random.nextInt(1000) * Double.MIN_VALUE;
        }
    },
    LARGE_OFFSET {
        @Override
        double next(Random random, int i, double last) {
            return 1e15 + random.nextInt(64) * .125;
        }
    },
    DECIMALS {
        @Override
        double next(Random random, int i, double last) {
            return Math.round(random.nextGaussian() * 1000) / 100.0;
        }
    },
    EDGES {
        @Override
        double next(Random random, int i, double last) {
            double edge = (random.nextInt(40) - 20 + .5) * .2;
            return random.nextInt(3) == 0 ? Math.nextUp(edge) : random.nextInt(2) == 0 ? Math.nextDown(edge) : edge;
        }
    },
    SPECIAL {
        @Override
        double next(Random random, int i, double last) {
            return switch (random.nextInt(12)) {
                case 0 -> Double.NaN;
                case 1 -> Double.POSITIVE_INFINITY;
                case 2 -> Double.NEGATIVE_INFINITY;
                case 3 -> -0.0;
                case 4 -> 0.0;
                case 5 -> Double.MIN_VALUE;
                case 6 -> Double.MAX_VALUE;
                case 7 -> -Double.MAX_VALUE;
                default -> random.nextGaussian();
            };
        }
    };

    abstract double next(Random random, int i, double last);

    double[] make(Random random, int count) {
        double[] values = new double[count];
        double last = 0;
        for (int i = 0; i < count; i++) {
            last = next(random, i, last);
            values[i] = last;
        }
        return values;
    }
}
