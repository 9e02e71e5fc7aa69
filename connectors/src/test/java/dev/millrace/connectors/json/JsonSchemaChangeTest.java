package dev.millrace.connectors.json;

import dev.millrace.connector.Options;
import dev.millrace.connectors.format.Decoding;
import dev.millrace.connectors.format.SchemaChangeConformance;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.Schema;
import java.util.Map;

class JsonSchemaChangeTest extends SchemaChangeConformance {
    @Override
    protected RecordFormat format(Schema columns) {
        return new JsonRecordFormatFactory().create(columns, new Options(Map.of()));
    }

    @Override
    protected boolean saysWhatChanged() {
        return false; // members come and go from record to record
    }

    @Override
    protected byte[] before(long id, String name, int price) {
        return Decoding.bytes("{\"id\":" + id + ",\"name\":\"" + name + "\",\"price\":" + price + "}");
    }

    @Override
    protected byte[] withMore(long id, String name, int price, String note) {
        return Decoding.bytes(
                "{\"id\":" + id + ",\"note\":\"" + note + "\",\"name\":\"" + name + "\",\"price\":" + price + "}");
    }

    @Override
    protected byte[] withLess(long id, String name) {
        return Decoding.bytes("{\"id\":" + id + ",\"name\":\"" + name + "\"}");
    }

    @Override
    protected byte[] withText(long id, String name, String price) {
        return Decoding.bytes("{\"id\":" + id + ",\"name\":\"" + name + "\",\"price\":\"" + price + "\"}");
    }
}
