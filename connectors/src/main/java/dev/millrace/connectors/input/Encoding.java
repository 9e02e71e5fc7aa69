package dev.millrace.connectors.input;

/** How characters are written in a file that does not say it by a mark at its beginning. */
public enum Encoding {
    UTF_8(1),
    LATIN_1(2),
    WINDOWS_1252(3),
    UTF_16LE(3),
    UTF_16BE(3);

    private final int growth;

    Encoding(int growth) {
        this.growth = growth;
    }

    /** At most how many bytes of UTF-8 become of one byte, where there are some. */
    int growth() {
        return growth;
    }

    /** Whether a line end is one byte that is nothing else. */
    public boolean hasLineBytes() {
        return this != UTF_16LE && this != UTF_16BE;
    }

    /** How many bytes of the file a character was that begins with this byte of UTF-8; 0 for a byte that begins none. */
    int bytesOf(byte lead) {
        if (this == UTF_8) {
            return 1;
        }
        if ((lead & 0xc0) == 0x80) {
            return 0;
        }
        return hasLineBytes() ? 1 : (lead & 0xf8) == 0xf0 ? 4 : 2;
    }
}
