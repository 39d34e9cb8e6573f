"""A server that takes profiles as OpenTelemetry's collector, Pyroscope and Parca
do, written from their public interfaces. It notes each request in DIRECTORY: what
was sent as N.pb (a request of OTLP) or N.pprof, and what it was told as N.json.

    receive_profiles.py DIRECTORY [STATUS...]

The first requests are answered with these statuses, all others with 200. Prints
the port.
"""
import base64
import email
import email.policy
import gzip
import http.server
import json
import sys
import urllib.parse

directory = sys.argv[1]
statuses = [int(s) for s in sys.argv[2:]]
requests = 0


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global requests
        number = requests
        requests += 1
        body = self.rfile.read(int(self.headers['Content-Length']))
        url = urllib.parse.urlsplit(self.path)
        kind = self.headers.get_content_type()
        note = {'path': url.path,
                'query': dict(urllib.parse.parse_qsl(url.query)),
                'type': kind, 'encoding': self.headers['Content-Encoding'],
                'authorization': self.headers['Authorization']}
        if self.headers['Content-Encoding'] == 'gzip':
            body = gzip.decompress(body)
        if kind == 'application/x-protobuf':
            note['file'] = '%s/%d.pb' % (directory, number)
            sent = body
        elif kind == 'multipart/form-data':
            message = email.message_from_bytes(
                b'Content-Type: ' + self.headers['Content-Type'].encode() +
                b'\r\n\r\n' + body, policy=email.policy.HTTP)
            parts = {p.get_param('name', header='content-disposition'):
                     p.get_payload(decode=True)
                     for p in message.iter_parts()}
            note['config'] = json.loads(parts['sample_type_config'])
            note['file'] = '%s/%d.pprof' % (directory, number)
            sent = parts['profile']
        else:
            request = json.loads(body)
            series = request['series'][0]
            note['labels'] = {label['name']: label['value'] for label in
                              series['labels']['labels']}
            note['file'] = '%s/%d.pprof' % (directory, number)
            sent = base64.b64decode(series['samples'][0]['rawProfile'])
        open(note['file'], 'wb').write(sent)
        json.dump(note, open('%s/%d.json' % (directory, number), 'w'))
        status = statuses[number] if number < len(statuses) else 200
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b'no room' if status != 200 else b'')

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(('127.0.0.1', 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
