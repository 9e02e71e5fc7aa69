package dev.millrace.connectors.csv;

import dev.millrace.connectors.input.Encoding;
import java.util.List;

/**
 * How records are written.
 *
 * @param delimiter between fields
 * @param quote around fields that hold delimiters or line ends; 0 when there is none
 * @param escape before a quote within quotes; commonly the quote itself
 * @param comment begins lines to be skipped; 0 when there is none
 * @param header whether the first record names the columns
 * @param skipLines lines before the header or the first record; {@value #UP_TO_HEADER} for all before a line that names columns
 * @param skipAfterHeader lines behind the header that are no records
 * @param trim whether blanks around unquoted text do not count (around other types they never do)
 * @param nullPadding whether fields missing at the end of a record are NULL
 * @param unionByName whether a header may lack columns, which are NULL then
 * @param ignoreExtra whether fields after the last column are left out
 * @param nulls texts that mean NULL when not in quotes; an empty field of any type but text is always NULL
 * @param decimalComma whether numbers have a comma for a point
 * @param thousands UTF-8 bytes to be left out of numbers; empty when there are none
 * @param encoding of the file
 * @param maxRecordBytes longer records are rejected
 */
public record CsvDialect(
        byte delimiter,
        byte quote,
        byte escape,
        byte comment,
        Header header,
        int skipLines,
        int skipAfterHeader,
        boolean trim,
        boolean nullPadding,
        boolean unionByName,
        boolean ignoreExtra,
        List<String> nulls,
        boolean decimalComma,
        String thousands,
        Encoding encoding,
        int maxRecordBytes) {

    static final int UP_TO_HEADER = -1;

    /** Whether there is a header; AUTO looks whether the first record names any declared column. */
    public enum Header {
        TRUE,
        FALSE,
        AUTO
    }

    public CsvDialect {
        nulls = List.copyOf(nulls);
    }

    boolean normalisesNumbers() {
        return decimalComma || !thousands.isEmpty();
    }

    /** The same where it is known whether there is a header. */
    CsvDialect withHeader(Header known) {
        return with(quote, escape, known);
    }

    /** The same, but that quotes are characters as others are. */
    CsvDialect withoutQuotes() {
        return with((byte) 0, (byte) 0, header);
    }

    private CsvDialect with(byte newQuote, byte newEscape, Header newHeader) {
        return new CsvDialect(
                delimiter,
                newQuote,
                newEscape,
                comment,
                newHeader,
                skipLines,
                skipAfterHeader,
                trim,
                nullPadding,
                unionByName,
                ignoreExtra,
                nulls,
                decimalComma,
                thousands,
                encoding,
                maxRecordBytes);
    }
}
