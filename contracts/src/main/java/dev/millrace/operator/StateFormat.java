package dev.millrace.operator;

/**
 * How an operator writes one of its states. Who changes the bytes gives them another version, so that nobody takes the ones for
 * the others.
 *
 * @param name known to one operator only
 * @param version of the bytes, from 1 on
 */
public record StateFormat(String name, int version) {
    private static final int MOST = Short.MAX_VALUE; // what a checkpoint has room for

    public StateFormat {
        if (version < 1 || version > MOST) {
            throw new IllegalArgumentException("version " + version + " of state \"" + name + "\"");
        }
    }

    @Override
    public String toString() {
        return name + " v" + version;
    }
}
