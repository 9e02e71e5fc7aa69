package dev.millrace.connectors.csv;

import dev.millrace.connector.Options;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.connectors.format.SchemaChangeConformance;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.Map;

/** Fields by position, of which there may be fewer or more by option alone. */
class CsvSchemaChangeTest extends SchemaChangeConformance {
    @Override
    protected RecordFormat format(Schema columns) {
        return new CsvRecordFormatFactory()
                .create(columns, new Options(Map.of("null_padding", "true", "ignore_extra", "true")));
    }

    @Override
    protected boolean saysWhatChanged() {
        return false; // fields have no names
    }

    @Override
    protected byte[] before(long id, String name, int price) {
        return Decoding.bytes(id + "," + name + "," + price);
    }

    @Override
    protected byte[] withMore(long id, String name, int price, String note) {
        return Decoding.bytes(id + "," + name + "," + price + "," + note);
    }

    @Override
    protected byte[] withLess(long id, String name) {
        return Decoding.bytes(id + "," + name);
    }

    @Override
    protected byte[] withText(long id, String name, String price) {
        return Decoding.bytes(id + "," + name + "," + price);
    }
}
