import os, socket, sys
family, address = ((socket.AF_INET6, '::1') if sys.argv[1] == '6'
                   else (socket.AF_INET, '127.0.0.1'))
server = socket.socket(family)
server.bind((address, 0))
server.listen()
if not os.fork():
    client = socket.create_connection(server.getsockname()[:2])
    for i in range(30):
        client.sendall(b'x' * (i + 1))
        assert len(client.recv(100)) == i + 1
    os._exit(0)
connection, _ = server.accept()
while True:
    data = connection.recv(100)
    if not data:
        break
    connection.sendall(data)
os.wait()
